#include "model/low_precision_file.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/threads.h"
#include "kernels/low_precision.h"
#include "model/weights.h"
#include "model/weights_file.h"

namespace dragoman::internal {
namespace {

constexpr int64_t block_size = 1 << 20;  // values that are rounded at once

using ByteSink = std::function<void(std::span<const std::byte>)>;

// Hands the bytes of a matrix over, and returns its scales.
std::vector<float> round_columns(const Parameter& parameter, Precision precision, const OperandReader& read,
                                 const ByteSink& sink) {
  CpuContext context(available_threads());
  const int64_t rows = operand_of(parameter, nullptr).rows, columns = operand_of(parameter, nullptr).columns;
  const int64_t panels = std::max<int64_t>(1, block_size / rows / low_precision_panel_columns),
                at_once = panels * low_precision_panel_columns;
  std::vector<float> scales;
  for (int64_t first = 0; first < columns; first += at_once) {
    const int64_t count = std::min(at_once, columns - first);
    const OperandColumns some = read(first, count);
    const ConstMatrix operand = ConstMatrix{some.values.data(), count, rows, rows}.transposed();
    std::vector<unsigned char> bytes(static_cast<size_t>(low_precision_size(precision, rows, count)));
    scales.resize(static_cast<size_t>(first + count));
    to_low_precision(context, precision, operand, bytes.data(), scales.data() + first,
                     some.known_scales.empty() ? nullptr : some.known_scales.data());
    sink(std::as_bytes(std::span(bytes)));
  }
  return scales;
}

}  // namespace

std::string scales_name(const Parameter& parameter) { return parameter.name + ".scales"; }

ConstMatrix operand_of(const Parameter& parameter, const float* floats) {
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  const ConstMatrix matrix = {floats, rows, columns, columns, 1};
  return parameter.role == Role::table ? matrix.transposed() : matrix;
}

std::vector<int64_t> low_precision_shape(Precision precision, ConstMatrix operand) {
  const int64_t elements_of_line = precision == Precision::int8 ? 64 : 32;
  const int64_t panels = (operand.columns + low_precision_panel_columns - 1) / low_precision_panel_columns;
  const int64_t lines =
      low_precision_size(precision, operand.rows, operand.columns) / (panels * low_precision_line_bytes);
  return {panels, lines, elements_of_line};
}

Dtype low_precision_dtype(Precision precision) {
  return precision == Precision::int8 ? Dtype::u8 : Dtype::bf16;
}

Metadata low_precision_metadata(Precision precision) {
  return {{"format", "dragoman 1"}, {"precision", name_of(precision)}};
}

void stream_low_precision(const std::string& path, const Parameters& parameters, Precision precision,
                          const FloatWeights& weights) {
  std::vector<TensorStream> rounded, plain;  // in this order, all of the first are aligned to 64 bytes
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) {
      plain.push_back({parameter.name, Dtype::f32, shape_of(parameter), [&](const ByteSink& sink) {
                         const std::vector<float> values = weights.values(parameter);
                         sink(std::as_bytes(std::span(values)));
                       }});
      continue;
    }
    const ConstMatrix operand = operand_of(parameter, nullptr);
    const auto scales = std::make_shared<std::vector<float>>();  // known once the matrix has been rounded
    const auto round = [&weights, &parameter, precision, scales](const ByteSink& sink) {
      *scales = round_columns(parameter, precision, weights.operand(parameter), sink);
    };
    rounded.push_back(
        {parameter.name, low_precision_dtype(precision), low_precision_shape(precision, operand), round});
    if (precision != Precision::int8) continue;
    plain.push_back(
        {scales_name(parameter), Dtype::f32, {operand.columns}, [scales, round](const ByteSink& sink) {
           if (scales->empty()) round([](std::span<const std::byte>) {});
           sink(std::as_bytes(std::span(*scales)));
         }});
  }
  rounded.insert(rounded.end(), plain.begin(), plain.end());
  stream_safetensors(path, low_precision_metadata(precision), rounded);
}

}  // namespace dragoman::internal
