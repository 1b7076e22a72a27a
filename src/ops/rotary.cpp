#include "base/error.h"
#include "ops/ops.h"

namespace dragoman::internal {

void rotate(Pass& pass, const Tensor& x, const Tensor& angles, const Array<RowKey>& rows) {
  CHECK(x.rows() == rows.size() && x.columns() % angles.columns() == 0, "{} × {} for {} rows of heads of {}",
        x.rows(), x.columns(), rows.size(), angles.columns());
  Device& device = pass.device;
  device.kernels.rotate(device.context, rows.data(), angles, false, x.matrix());

  if (pass.tape == nullptr) return;
  pass.tape->record({}, [&device, &rows, x, angles] {
    device.kernels.rotate(device.context, rows.data(), angles, true, x.gradient());
  });
}

}  // namespace dragoman::internal
