// Tensors as other systems' files have them: of any type, in any order in memory, and mapped rather than read, so that
// a model larger than the memory can be converted tensor by tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dragoman::internal {

enum class ElementType { f32, f16, bf16, f64, i8, u8, i16, i32, i64, boolean };

struct ForeignTensor {
  ElementType type;
  std::vector<int64_t> shape, strides;  // strides in elements, as PyTorch has them
  std::span<const std::byte> data;      // from the first element to the last, at any address
  std::shared_ptr<const void> owner;    // of the data: a mapped file, or what was inflated

  // Of integers that stand for quotients: element / scale, with one scale per index of this dimension, or one for all.
  std::vector<float> scales = {};
  size_t scaled_dimension = 0;
};

using ForeignTensors = std::map<std::string, ForeignTensor, std::less<>>;

size_t element_size(ElementType type);

// "f16 [2, 3]"
std::string describe(const ForeignTensor& tensor);

// The number of elements from a tensor's first to its last, inclusive; nothing for sizes and strides that a tensor in
// memory cannot have, such as negative ones.
std::optional<int64_t> extent(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides);

// The bytes of a tensor that is stored row by row; nothing if the shape is not that of a tensor in memory.
std::optional<uint64_t> bytes_of(ElementType type, const std::vector<int64_t>& shape);

// A tensor that is stored row by row; nothing if the size of the data does not match the shape.
std::optional<ForeignTensor> row_by_row(ElementType type, std::vector<int64_t> shape,
                                        std::span<const std::byte> data, std::shared_ptr<const void> owner);

ForeignTensor from_floats(std::vector<float> values, std::vector<int64_t> shape);
// A bias of zeros, for models that have none.
ForeignTensor zero_bias(int64_t columns);

// Views of a matrix.
ForeignTensor transposed(ForeignTensor matrix);
ForeignTensor rows_of(const ForeignTensor& matrix, int64_t first, int64_t count);
// In floats, each element times the factor.
ForeignTensor scaled(const ForeignTensor& tensor, double factor);
// A vector as a matrix of one row.
ForeignTensor as_row(ForeignTensor vector);

// The elements row by row, whatever the strides, of f32, f16, bf16 and f64, and of i8 and i16 that have scales. An
// Error for other types, and for a tensor whose elements share memory, as PyTorch's expand() makes them.
std::vector<float> to_floats(const ForeignTensor& tensor);

}  // namespace dragoman::internal
