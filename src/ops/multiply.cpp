#include "base/error.h"
#include "ops/ops.h"

namespace dragoman::internal {

Tensor multiply_elements(Pass& pass, const Tensor& a, const Tensor& b) {
  Device& device = pass.device;
  const Tensor product(device.pool, a.rows(), a.columns());
  device.kernels.multiply_elements(device.context, a, b, product.matrix());

  if (pass.tape == nullptr) return product;
  pass.tape->record({}, [&device, a, b, product] {
    product.drop_values();
    CHECK(Tensor::make_gradients({a}), "a factor has one use");
    device.kernels.multiply_elements(device.context, product.gradient(), b, a.gradient());
    CHECK(b.take_gradient_of(product), "a factor has one use");
    device.kernels.multiply_elements(device.context, b.gradient(), a, b.gradient());
  });
  return product;
}

}  // namespace dragoman::internal
