#include "ops/ops.h"

namespace dragoman::internal {

Tensor look_up(Pass& pass, const Tensor& table, const Array<int32_t>& rows) {
  Device& device = pass.device;
  const Tensor found(device.pool, rows.size(), table.columns());
  device.kernels.gather_rows(device.context, table, rows.data(), found.matrix());

  if (pass.tape == nullptr) return found;
  pass.tape->record({&table}, [&device, &rows, table, found] {
    device.kernels.embed_backward(device.context, rows.data(), nullptr, found.gradient(), 1, false, {},
                                  table.gradient(), Matrix{});
  });
  return found;
}

}  // namespace dragoman::internal
