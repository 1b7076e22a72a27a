#include "base/error.h"
#include "ops/ops.h"

namespace dragoman::internal {

void normalise_heads(Pass& pass, const Tensor& x, int64_t width, float epsilon) {
  CHECK(x.columns() % width == 0, "{} columns for heads of {}", x.columns(), width);
  Device& device = pass.device;
  const Tensor factors = pass.tape != nullptr ? Tensor(device.pool, x.rows(), x.columns() / width) : Tensor();
  device.kernels.normalise_heads(device.context, width, epsilon, x.matrix(),
                                 factors ? factors.data() : nullptr);

  if (pass.tape == nullptr) return;
  pass.tape->record({}, [&device, x, width, factors] {
    device.kernels.normalise_heads_backward(device.context, width, x, factors.data(), x.gradient());
  });
}

}  // namespace dragoman::internal
