#include "ops/products.h"

#include "base/error.h"

namespace dragoman {
namespace {

int64_t size_when_packed(Device& device, ConstMatrix b) {
  return device.kernels.packed_size(b.rows, b.columns);
}

// The parameter's packed form, made now if it is not there.
PackedMatrix kept(Device& device, const Tensor& weight, ConstMatrix b, bool transposed) {
  Storage& storage = weight.storage();
  if (storage.packed.data == nullptr) {
    storage.packed = device.pool.take(static_cast<size_t>(size_when_packed(device, b)) * sizeof(float));
    storage.packed_transposed = transposed;
    device.kernels.pack(device.context, b, static_cast<float*>(storage.packed.data));
  }
  CHECK(storage.packed_transposed == transposed, "a {} × {} weight is kept in the other orientation", b.rows,
        b.columns);
  return {static_cast<float*>(storage.packed.data), b.rows, b.columns};
}

void multiply_by_narrow(Device& device, ConstMatrix a, const NarrowMatrix& b, Matrix c,
                        const Epilogue& epilogue) {
  CHECK(a.columns == b.rows && b.columns == c.columns, "a {} × {} weight is kept in the other orientation",
        b.rows, b.columns);
  CHECK(!epilogue.accumulate && epilogue.dropout.rate == 0, "weights in fewer bits are for decoding");
  const NarrowKernels& kernels = device.kernels.narrow;
  (b.precision == Precision::int8 ? kernels.int8 : kernels.bf16)(device.context, a, b, c, epilogue);
}

}  // namespace

Packed::Packed(Device& device, ConstMatrix b)
    : memory_(device.pool, 1, size_when_packed(device, b)), rows_(b.rows), columns_(b.columns) {
  device.kernels.pack(device.context, b, memory_.data());
}

void multiply(Device& device, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& epilogue) {
  CHECK(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "{} × {} · {} × {} into {} × {}",
        a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  device.kernels.multiply(device.context, a, b, c, epilogue);
}

void multiply_by_weight(Device& device, ConstMatrix a, const Tensor& weight, WeightUse use, Matrix c,
                        const Epilogue& epilogue) {
  const ConstMatrix b = use.transposed ? ConstMatrix(weight).transposed() : ConstMatrix(weight);
  CHECK(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "{} × {} · {} × {} into {} × {}",
        a.rows, a.columns, b.rows, b.columns, c.rows, c.columns);
  if (weight.is_narrow()) {
    multiply_by_narrow(device, a, weight.storage().narrow, c, epilogue);
  } else if (use.keep) {
    device.kernels.product(device.context, a, kept(device, weight, b, use.transposed), c, epilogue);
  } else {
    device.kernels.multiply(device.context, a, b, c, epilogue);
  }
}

}  // namespace dragoman
