#include "base/error.h"
#include "ops/ops.h"
#include "ops/trace.h"

namespace dragoman::internal {

StatesAndOutput ssru(Pass& pass, const Tensor& gate_and_input, const SsruOptions& options) {
  CHECK(options.key_rows == nullptr || (pass.tape == nullptr && options.spans->longest == 1),
        "states are listed for {} rows", options.spans->longest);
  CHECK(options.spans->rows == gate_and_input.rows(), "{} of {} rows are in spans", options.spans->rows,
        gate_and_input.rows());
  Device& device = pass.device;
  const int64_t rows = gate_and_input.rows(), width = gate_and_input.columns() / 2;
  const SsruShape shape = {.spans = options.spans->spans.data(),
                           .spans_count = options.spans->count(),
                           .keys = options.keys != nullptr ? options.keys->spans.data() : nullptr,
                           .key_rows = options.key_rows != nullptr ? options.key_rows->data() : nullptr};
  const Tensor gate = gate_and_input.column_range(0, width),
               input = gate_and_input.column_range(width, width);
  const Tensor states(device.pool, rows, width), out(device.pool, rows, width);
  device.kernels.ssru(device.context, shape, gate, input,
                      options.seen ? ConstMatrix(options.seen) : ConstMatrix{}, states.matrix(),
                      out.matrix());
  if (pass.trace != nullptr) pass.trace->recurrences.push_back({gate_and_input, {states, out}});

  if (pass.tape == nullptr) return {states, out};
  pass.tape->record({}, [&device, shape, gate, input, states, out] {
    CHECK(Tensor::make_gradients({gate, input}), "gates and inputs have one use");
    device.kernels.ssru_backward(device.context, shape, gate, input, states, out.gradient(), gate.gradient(),
                                 input.gradient());
  });
  return {states, out};
}

}  // namespace dragoman::internal
