#include "ops/ops.h"

namespace dragoman::internal {

Tensor dropout(Pass& pass, const Tensor& x, float rate, const Array<RowKey>& rows) {
  Device& device = pass.device;
  const Dropout mask = pass.dropout(rate, rows);
  if (mask.rate == 0) return x;
  const Tensor y(device.pool, x.rows(), x.columns());
  device.memory.copy(y.data(), x.data(), static_cast<size_t>(x.rows() * x.columns()) * sizeof(float));
  device.kernels.drop(device.context, mask, y.matrix());

  pass.tape->record({}, [&device, x, y, mask] {
    device.kernels.drop(device.context, mask, y.gradient());
    if (!x.take_gradient_of(y)) device.kernels.add(device.context, 1, y.gradient(), x.gradient_sum());
  });
  return y;
}

}  // namespace dragoman::internal
