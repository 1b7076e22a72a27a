#include "ops/products.h"

#include <numeric>
#include <vector>

#include "base/error.h"
#include "kernels/low_precision.h"

namespace dragoman::internal {
namespace {

const ProductKernels& products_in(Precision precision, Device& device) {
  CHECK(precision != Precision::int8, "floats are multiplied in fp32 or in bf16");
  return precision == Precision::bf16 ? device.kernels.low_precision.rounded : device.kernels.products;
}

void check_sizes(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  CHECK(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "{} × {} · {} × {} into {} × {}",
        a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
}

void keep_packed(Device& device, const Tensor& weight, const ProductKernels& products, ConstMatrix b) {
  Storage& storage = weight.storage();
  const int64_t size = products.packed_size(b.rows, b.columns);
  storage.packed_block = device.pool.allocate(static_cast<size_t>(size) * sizeof(float));
  auto* const packed = static_cast<float*>(storage.packed_block.data);
  products.pack(device.context, b, packed);
  storage.packed = packed;
}

// The parameter's packed form, made now if it is not there.
PackedMatrix kept(Device& device, const Tensor& weight, ConstMatrix b, bool transposed) {
  Storage& storage = weight.storage();
  if (storage.packed == nullptr) {
    keep_packed(device, weight, device.kernels.products, b);
    storage.packed_transposed = transposed;
  }
  CHECK(storage.packed_transposed == transposed, "a {} × {} weight is kept in the other orientation", b.rows,
        b.columns);
  return {storage.packed, b.rows, b.columns};
}

// The same of a low-precision weight in bf16, as the products of rounded floats read it: an element has the same bits
// as by the panels, which a GPU would take apart at every product.
PackedMatrix kept_wide(Device& device, const Tensor& weight) {
  const LowPrecisionMatrix& panels = weight.storage().low_precision;
  if (weight.storage().packed == nullptr) {
    std::vector<int32_t> columns(static_cast<size_t>(panels.columns));
    std::iota(columns.begin(), columns.end(), 0);
    const Array<int32_t> all(device.pool, columns);
    const Tensor widened(device.pool, panels.columns, panels.rows);
    device.kernels.widen_columns(device.context, panels, all.data(), widened.matrix());
    keep_packed(device, weight, device.kernels.low_precision.rounded, ConstMatrix(widened).transposed());
  }
  return {weight.storage().packed, panels.rows, panels.columns};
}

void check_low_precision(ConstMatrix a, const LowPrecisionMatrix& b, Matrix c, const Epilogue& epilogue) {
  CHECK(a.columns == b.rows && b.columns == c.columns, "a {} × {} weight is kept in the other orientation",
        b.rows, b.columns);
  CHECK(!epilogue.accumulate && epilogue.dropout.rate == 0, "low-precision weights are for decoding");
}

void multiply_by_low_precision(Device& device, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c,
                               const Epilogue& epilogue) {
  check_low_precision(a, b, c, epilogue);
  const LowPrecisionKernels& kernels = device.kernels.low_precision;
  (b.precision == Precision::int8 ? kernels.int8 : kernels.bf16)(device.context, a, b, c, epilogue);
}

void multiply_by_low_precision_weight(Device& device, ConstMatrix a, const Tensor& weight, Matrix c,
                                      const Epilogue& epilogue) {
  const LowPrecisionMatrix& b = weight.storage().low_precision;
  if (b.precision != Precision::bf16 || !rounds_once(device, Precision::bf16)) {
    multiply_by_low_precision(device, a, b, c, epilogue);
    return;
  }
  check_low_precision(a, b, c, epilogue);
  device.kernels.low_precision.rounded.product(device.context, a, kept_wide(device, weight), c, epilogue);
}

}  // namespace

bool rounds_once(const Device& device, Precision precision) {
  return precision == Precision::bf16 && device.kernels.low_precision.round != nullptr;
}

bool is_kept_in_bf16(const Device& device, const Tensor& weight) {
  return weight.is_low_precision() && rounds_once(device, weight.storage().low_precision.precision);
}

ConstMatrix operand(Device& device, Precision precision, const Tensor& x) {
  if (rounds_once(device, precision) && !x.is_rounded() && x.whole()) {
    x.keep_rounded();
    device.kernels.low_precision.round(device.context, x, x.matrix().rounded);
  }
  return x;
}

Packed::Packed(Device& device, Precision precision, ConstMatrix b)
    : precision_(precision), rows_(b.rows), columns_(b.columns) {
  if (b.rounded != nullptr && rounds_once(device, precision)) {
    whole_ = b;
    return;
  }
  memory_ = Tensor(device.pool, 1, products_in(precision, device).packed_size(b.rows, b.columns));
  products_in(precision, device).pack(device.context, b, memory_.data());
}

void Packed::multiply(Device& device, ConstMatrix a, Matrix c, const Epilogue& epilogue) const {
  if (whole_.rounded != nullptr) {
    products_in(precision_, device).multiply(device.context, a, whole_, c, epilogue);
    return;
  }
  products_in(precision_, device).product(device.context, a, {memory_.data(), rows_, columns_}, c, epilogue);
}

PackedRows::PackedRows(Device& device, const Tensor& weight, std::span<const int32_t> rows) {
  const auto count = static_cast<int64_t>(rows.size());
  const Array<int32_t> wanted(device.pool, rows);
  if (weight.is_low_precision()) {
    const LowPrecisionMatrix& whole = weight.storage().low_precision;
    low_precision_data_ =
        Array<unsigned char>(device.pool, low_precision_size(whole.precision, whole.rows, count));
    low_precision_scales_ = Array<float>(device.pool, count);
    device.kernels.gather_columns(device.context, whole, wanted.data(), count, low_precision_data_.data(),
                                  low_precision_scales_.data());
    low_precision_ = {whole.precision, low_precision_data_.data(), low_precision_scales_.data(), whole.rows,
                      count};
    return;
  }
  const Tensor some(device.pool, count, weight.columns());
  device.kernels.gather_rows(device.context, weight, wanted.data(), some.matrix());
  floats_ = Packed(device, Precision::fp32, ConstMatrix(some).transposed());
}

void PackedRows::multiply(Device& device, ConstMatrix a, Matrix c, const Epilogue& epilogue) const {
  if (low_precision_.data != nullptr) {
    multiply_by_low_precision(device, a, low_precision_, c, epilogue);
  } else {
    floats_.multiply(device, a, c, epilogue);
  }
}

void multiply(Device& device, Precision precision, ConstMatrix a, ConstMatrix b, Matrix c,
              const Epilogue& epilogue) {
  check_sizes(a, b, c);
  products_in(precision, device).multiply(device.context, a, b, c, epilogue);
}

void multiply_each(Device& device, Precision precision, std::span<const SmallProduct> products) {
  for (const SmallProduct& p : products) check_sizes(p.a, p.b, p.c);
  products_in(precision, device)
      .multiply_each(device.context, products.data(), static_cast<int64_t>(products.size()));
}

void multiply_by_weight(Device& device, ConstMatrix a, const Tensor& weight, WeightUse use, Matrix c,
                        const Epilogue& epilogue) {
  const ConstMatrix straight = operand(device, use.precision, weight);
  const ConstMatrix b = use.transposed ? straight.transposed() : straight;
  check_sizes(a, b, c);
  if (weight.is_low_precision()) {
    multiply_by_low_precision_weight(device, a, weight, c, epilogue);
  } else if (use.keep) {
    CHECK(use.precision == Precision::fp32, "a weight is kept in fp32 or as it is");
    device.kernels.products.product(device.context, a, kept(device, weight, b, use.transposed), c, epilogue);
  } else {
    products_in(use.precision, device).multiply(device.context, a, b, c, epilogue);
  }
}

}  // namespace dragoman::internal
