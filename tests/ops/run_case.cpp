#include "base/random.h"
#include "ops/cases.h"

namespace dragoman::internal {
namespace {

Floats draw(const OpInput& input, Random random) {
  Floats values(static_cast<size_t>(input.rows * input.columns));
  for (size_t i = 0; i < values.size(); ++i) {
    if (input.values == OpInput::Values::even) {
      values[i] = static_cast<float>(random.uniform(-input.size, input.size));
    } else {
      const bool below = static_cast<int64_t>(i) % input.columns % 2 == 1;
      values[i] = static_cast<float>(random.uniform(input.size, 2 * input.size)) * (below ? -1.0F : 1.0F);
    }
  }
  return values;
}

Tensor make_input(Device& device, const OpInput& input, const Floats& values, std::vector<Tensor>& memory) {
  Tensor data(device.pool, input.rows, input.columns);
  device.memory.upload(data.data(), values.data(), values.size() * sizeof(float));
  if (input.kind != OpInput::Kind::parameter) return data;
  const Tensor parameter = Tensor::parameter(device.pool, input.rows, input.columns);
  const Tensor gradient(device.pool, input.rows, input.columns);
  device.memory.fill(gradient.matrix(), 0);
  parameter.storage().data = data.data();
  parameter.storage().gradient = gradient.data();
  memory.insert(memory.end(), {data, gradient});
  return parameter;
}

std::vector<int32_t> words(int64_t count, int64_t vocabulary, uint64_t key) {
  Random random(key);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t& id : ids) id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
  return ids;
}

void set_gradient(Device& device, const Tensor& output, const Floats& values) {
  const auto target = output.gradient_target();  // outputs are whole, so that rows are dense
  device.memory.upload(target.matrix.data, values.data(), values.size() * sizeof(float));
}

}  // namespace

Floats floats_of(DeviceMemory& memory, ConstMatrix m) {
  Floats values(static_cast<size_t>(m.rows * m.columns));
  if (m.row_stride == m.columns) {
    memory.download(values.data(), m.data, values.size() * sizeof(float));
    return values;
  }
  const size_t row_bytes = static_cast<size_t>(m.columns) * sizeof(float);
  for (int64_t r = 0; r < m.rows; ++r)
    memory.download(values.data() + r * m.columns, m.data + r * m.row_stride, row_bytes);
  return values;
}

int64_t OpCase::rows() const {
  int64_t rows = 0;
  for (const int32_t length : lengths) rows += length;
  return rows;
}

std::vector<Floats> input_values(const OpCase& op) {
  std::vector<Floats> values;
  for (const OpInput& input : op.inputs)
    values.push_back(draw(input, Random(mix(mix(1, op.name), input.name))));
  return values;
}

std::vector<Floats> output_gradients(const OpCase& op, const std::vector<size_t>& sizes) {
  Random random(mix(2, op.name));
  std::vector<Floats> gradients;
  for (const size_t size : sizes) {
    gradients.emplace_back(size);
    for (size_t i = 0; i < size; ++i) {
      const bool counts = op.loss_columns > 0 && i % static_cast<size_t>(op.loss_columns) == 0;
      gradients.back()[i] =
          op.loss_columns > 0 ? (counts ? 1.0F : 0.0F) : static_cast<float>(random.uniform(-1, 1));
    }
  }
  return gradients;
}

OpArguments make_arguments(Device& device, const OpCase& op, const std::vector<Floats>& values) {
  OpArguments arguments;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    arguments.inputs.push_back(make_input(device, op.inputs[i], values[i], arguments.memory));
  }
  std::vector<uint64_t> pairs;
  for (size_t i = 0; i < op.lengths.size(); ++i) pairs.push_back((uint64_t{3} << 33) + 5 * i);
  arguments.tokens = pack_tokens(device, words(op.rows(), op.vocabulary, mix(3, op.name)), op.lengths, pairs);
  const auto own = arguments.tokens.spans.spans.values();
  arguments.keys = Spans(device.pool, op.keys.empty() ? own : std::span<const Span>(op.keys));
  arguments.targets =
      Array<int32_t>(device.pool, std::span<const int32_t>(words(op.rows(), op.vocabulary, mix(4, op.name))));
  return arguments;
}

Pass case_pass(Device& device, Tape& tape, Precision precision) {
  return {.device = device, .tape = &tape, .precision = precision, .seed = 7, .update = 3};
}

OpResult run_forward(Device& device, const OpCase& op, const std::vector<Floats>& values) {
  const OpArguments arguments = make_arguments(device, op, values);
  Tape tape;  // without one nothing would be dropped
  Pass pass = case_pass(device, tape);
  OpResult result;
  for (const Tensor& output : op.run(pass, arguments))
    result.outputs.push_back(floats_of(device.memory, output));
  return result;
}

OpResult run_both_ways(Device& device, const OpCase& op, const std::vector<Floats>& values,
                       Precision precision) {
  const OpArguments arguments = make_arguments(device, op, values);
  Tape tape;
  Pass pass = case_pass(device, tape, precision);
  OpResult result;
  {
    const std::vector<Tensor> outputs = op.run(pass, arguments);
    std::vector<size_t> sizes;
    for (const Tensor& output : outputs) {
      result.outputs.push_back(floats_of(device.memory, output));
      sizes.push_back(result.outputs.back().size());
    }
    const std::vector<Floats> gradients = output_gradients(op, sizes);
    for (size_t i = 0; i < outputs.size() && op.loss_columns == 0; ++i)
      set_gradient(device, outputs[i], gradients[i]);
  }
  tape.backward();
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const bool constant = op.inputs[i].kind == OpInput::Kind::constant;
    result.gradients.push_back(constant ? Floats()
                                        : floats_of(device.memory, arguments.inputs[i].gradient()));
  }
  return result;
}

}  // namespace dragoman::internal
