#include "convert/files/tensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/ranges.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

struct Type {
  const char* name;
  size_t size;
};
// In the order of the enumeration.
constexpr std::array<Type, 10> types = {{{"f32", 4},
                                         {"f16", 2},
                                         {"bf16", 2},
                                         {"f64", 8},
                                         {"i8", 1},
                                         {"u8", 1},
                                         {"i16", 2},
                                         {"i32", 4},
                                         {"i64", 8},
                                         {"boolean", 1}}};

const Type& described(ElementType type) { return types.at(static_cast<size_t>(type)); }

template <class Stored>
float from_number(Stored value) {
  return static_cast<float>(value);
}
float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31U, fraction = bits & 1023U;
  if (exponent == 0)  // zeros and subnormals: exact in 32 bits
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24F));
  const uint32_t widened = exponent == 31 ? 255 : exponent - 15 + 127;  // 31: infinities and NaN
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

// The offset of each row's first element, in the order of the rows.
class Rows {
 public:
  explicit Rows(const ForeignTensor& tensor) : tensor_(tensor), at_(tensor.shape.size(), 0) {}

  int64_t next() {
    const int64_t offset = offset_;
    for (size_t i = at_.size() - 1; i-- > 0;) {
      offset_ += tensor_.strides[i];
      if (++at_[i] < tensor_.shape[i]) break;
      offset_ -= tensor_.strides[i] * std::exchange(at_[i], 0);
    }
    return offset;
  }

 private:
  const ForeignTensor& tensor_;
  std::vector<int64_t> at_;
  int64_t offset_ = 0;
};

template <class Stored>
Stored element(const ForeignTensor& tensor, int64_t place) {
  Stored value;
  std::memcpy(&value, tensor.data.data() + static_cast<size_t>(place) * sizeof value, sizeof value);
  return value;
}

template <class Stored>
std::vector<float> gather(const ForeignTensor& tensor, int64_t count, float (*convert)(Stored)) {
  if (tensor.shape.empty()) return {convert(element<Stored>(tensor, 0))};
  std::vector<float> values(static_cast<size_t>(count));
  const int64_t columns = tensor.shape.back(), stride = tensor.strides.back();
  Rows rows(tensor);
  for (auto value = values.begin(); value != values.end();) {
    const int64_t row = rows.next();
    for (int64_t i = 0; i < columns; ++i) *value++ = convert(element<Stored>(tensor, row + i * stride));
  }
  return values;
}

std::vector<float> divided_by_scales(const ForeignTensor& tensor, std::vector<float> values) {
  int64_t repeated = 1;  // elements in a row with the same scale
  for (size_t i = tensor.scaled_dimension + 1; i < tensor.shape.size(); ++i) repeated *= tensor.shape[i];
  for (size_t i = 0; i < values.size(); ++i)
    values[i] /= tensor.scales[i / static_cast<size_t>(repeated) % tensor.scales.size()];
  return values;
}

// Of all elements. Each of them has its own memory, which bounds the number.
int64_t count_elements(const ForeignTensor& tensor) {
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return 0;
  const auto max_count = static_cast<int64_t>(tensor.data.size() / element_size(tensor.type));
  int64_t count = 1;
  for (const int64_t size : tensor.shape) {
    if (size > max_count / count)
      throw Error("a tensor of {} repeats its elements in memory; save a contiguous copy of it",
                  describe(tensor));
    count *= size;
  }
  return count;
}

// Nothing if the shape is not that of a tensor in memory.
std::optional<std::vector<int64_t>> row_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (shape[i] < 0 || __builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride)) return {};
  }
  return strides;
}

}  // namespace

size_t element_size(ElementType type) { return described(type).size; }

std::string describe(const ForeignTensor& tensor) {
  return fmt::format("{} [{}]", described(tensor.type).name, fmt::join(tensor.shape, ", "));
}

std::optional<int64_t> extent(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  if (shape.size() != strides.size()) return {};
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t step = 0;
    if (shape[i] < 0 || strides[i] < 0) return {};
    if (shape[i] > 0 && (__builtin_mul_overflow(shape[i] - 1, strides[i], &step) ||
                         __builtin_add_overflow(last, step, &last)))
      return {};
  }
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  if (__builtin_add_overflow(last, 1, &last)) return {};
  return last;
}

std::optional<uint64_t> bytes_of(ElementType type, const std::vector<int64_t>& shape) {
  uint64_t size = element_size(type);
  if (!row_strides(shape)) return {};
  for (const int64_t n : shape)
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(n), &size)) return {};
  return size;
}

std::optional<ForeignTensor> row_by_row(ElementType type, std::vector<int64_t> shape,
                                        std::span<const std::byte> data, std::shared_ptr<const void> owner) {
  if (bytes_of(type, shape) != data.size()) return {};
  std::vector<int64_t> strides = *row_strides(shape);
  return ForeignTensor{type, std::move(shape), std::move(strides), data, std::move(owner)};
}

ForeignTensor from_floats(std::vector<float> values, std::vector<int64_t> shape) {
  const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  std::optional<ForeignTensor> tensor =
      row_by_row(ElementType::f32, std::move(shape), std::as_bytes(std::span(*owner)), owner);
  CHECK(tensor, "{} values", owner->size());
  return *std::move(tensor);
}

ForeignTensor zero_bias(int64_t columns) {
  return from_floats(std::vector<float>(static_cast<size_t>(columns)), {1, columns});
}

ForeignTensor transposed(ForeignTensor matrix) {
  CHECK(matrix.shape.size() == 2, "{}", describe(matrix));
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  matrix.scaled_dimension = 1 - matrix.scaled_dimension;
  return matrix;
}

ForeignTensor rows_of(const ForeignTensor& matrix, int64_t first, int64_t count) {
  CHECK(matrix.shape.size() == 2 && first >= 0 && count > 0 && first + count <= matrix.shape[0],
        "rows {} to {} of {}", first, first + count, describe(matrix));
  ForeignTensor rows = matrix;
  rows.shape[0] = count;
  const size_t size = element_size(matrix.type);
  rows.data = matrix.data.subspan(static_cast<size_t>(first * matrix.strides[0]) * size,
                                  static_cast<size_t>(*extent(rows.shape, rows.strides)) * size);
  if (matrix.scales.size() > 1 && matrix.scaled_dimension == 0) {
    const auto begin = matrix.scales.begin() + first;
    rows.scales.assign(begin, begin + count);
  }
  return rows;
}

ForeignTensor scaled(const ForeignTensor& tensor, double factor) {
  std::vector<float> values = to_floats(tensor);
  for (float& value : values) value = static_cast<float>(value * factor);
  return from_floats(std::move(values), tensor.shape);
}

ForeignTensor as_row(ForeignTensor vector) {
  CHECK(vector.shape.size() == 1, "{}", describe(vector));
  vector.shape.insert(vector.shape.begin(), 1);
  vector.strides.insert(vector.strides.begin(), 0);
  ++vector.scaled_dimension;
  return vector;
}

std::vector<float> to_floats(const ForeignTensor& tensor) {
  const int64_t count = count_elements(tensor);
  switch (tensor.type) {
    case ElementType::f32:
      return gather(tensor, count, from_number<float>);
    case ElementType::f16:
      return gather(tensor, count, from_f16);
    case ElementType::bf16:
      return gather(tensor, count, from_bf16);
    case ElementType::f64:
      return gather(tensor, count, from_number<double>);
    case ElementType::i8:
      if (tensor.scales.empty()) break;
      return divided_by_scales(tensor, gather(tensor, count, from_number<int8_t>));
    case ElementType::i16:
      if (tensor.scales.empty()) break;
      return divided_by_scales(tensor, gather(tensor, count, from_number<int16_t>));
    default:
      break;
  }
  throw Error("a tensor of {} where floating-point numbers are needed", describe(tensor));
}

}  // namespace dragoman::internal
