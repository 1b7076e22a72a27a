#include "model/decoding_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "kernels/low_precision.h"
#include "model/weights.h"

namespace dragoman {
namespace {

constexpr size_t alignment = 64;

std::string scales_name(const Parameter& parameter) { return parameter.name + ".scales"; }

// What products multiply by: a table is used transposed.
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

Precision wanted_precision(const std::string& path, Precision saved, WantedPrecision wanted) {
  if (wanted == WantedPrecision::as_saved) return saved;
  const Precision chosen = wanted == WantedPrecision::fp32   ? Precision::fp32
                           : wanted == WantedPrecision::bf16 ? Precision::bf16
                                                             : Precision::int8;
  if (saved != Precision::fp32 && saved != chosen) {
    throw Error("{} holds {} weights, of which {} cannot be made: take the model that they were made from",
                path, name_of(saved), name_of(chosen));
  }
  return chosen;
}

void check_nothing_else(const std::string& path, const SafetensorsFile& file, const Parameters& parameters,
                        Precision saved) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters.list()) {
    names.push_back(parameter.name);
    if (saved == Precision::int8 && parameter.role != Role::plain) names.push_back(scales_name(parameter));
  }
  check_names(path, file, std::move(names));
}

// Memory for what is rounded here, and its owner.
template <class T>
T* new_memory(Parameters& parameters, int64_t count) {
  const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  parameters.keep(
      std::shared_ptr<const void>(memory, [](const void* p) { std::free(const_cast<void*>(p)); }));
  return static_cast<T*>(memory);
}

LowPrecisionMatrix mapped(const SafetensorsFile& file, const Parameter& parameter, Precision precision) {
  const ConstMatrix operand = operand_of(parameter, nullptr);
  LowPrecisionMatrix low_precision = {precision, nullptr, nullptr, operand.rows, operand.columns};
  low_precision.data = file.bytes(parameter.name, low_precision_dtype(precision),
                                  low_precision_shape(precision, operand), alignment);
  if (precision == Precision::int8)
    low_precision.scales = file.floats(scales_name(parameter), 1, operand.columns).data();
  return low_precision;
}

LowPrecisionMatrix rounded(Context& context, Parameters& parameters, const Parameter& parameter,
                           Precision precision) {
  const ConstMatrix operand = operand_of(parameter, parameter.value.data());
  auto* data =
      new_memory<unsigned char>(parameters, low_precision_size(precision, operand.rows, operand.columns));
  float* scales = precision == Precision::int8 ? new_memory<float>(parameters, operand.columns) : nullptr;
  return to_low_precision(context, precision, operand, data, scales);
}

void check_finite(const std::string& path, const std::string& name, const float* values, int64_t count) {
  if (std::all_of(values, values + count, [](float x) { return std::isfinite(x); })) return;
  throw Error(
      "{}: {} has what is no finite number: the file is damaged, or its training failed; take another one",
      path, name);
}

// What is small is always looked at. Weights in floats are where they are to be rounded, since few bits have no place
// for what is no number and would hide it; where they stay mapped, no page is touched before it is needed.
void check_finite(const std::string& path, const Parameters& parameters, bool to_be_rounded) {
  for (const Parameter& parameter : parameters.list()) {
    const Storage& storage = parameter.value.storage();
    if (storage.low_precision.scales != nullptr)
      check_finite(path, scales_name(parameter), storage.low_precision.scales, storage.low_precision.columns);
    if (storage.data != nullptr && (to_be_rounded || parameter.role == Role::plain))
      check_finite(path, parameter.name, storage.data, parameter.size());
  }
}

}  // namespace

const char* name_of(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : precision == Precision::bf16 ? "bf16" : "int8";
}

void quantize_weights(Context& context, Parameters& parameters, Precision precision) {
  parameters.changed();
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) continue;
    Storage& storage = parameter.value.storage();
    storage.low_precision = rounded(context, parameters, parameter, precision);
    storage.data = nullptr;
  }
}

void map_weights(Context& context, const std::string& path, Parameters& parameters, WantedPrecision wanted) {
  const auto file = std::make_shared<const SafetensorsFile>(SafetensorsFile::open(path));
  const Precision saved = saved_precision(path, *file), chosen = wanted_precision(path, saved, wanted);
  check_nothing_else(path, *file, parameters, saved);
  parameters.keep(file);
  for (const Parameter& parameter : parameters.list()) {
    Storage& storage = parameter.value.storage();
    if (saved != Precision::fp32 && parameter.role != Role::plain) {
      storage.low_precision = mapped(*file, parameter, saved);
      continue;
    }
    const auto floats = file->floats(parameter.name, parameter.value.rows(), parameter.value.columns());
    storage.data = const_cast<float*>(floats.data());  // without gradients nothing writes to weights
  }
  check_finite(path, parameters, chosen != saved);
  if (chosen != saved) quantize_weights(context, parameters, chosen);
}

void write_decoding_weights(const std::string& path, const Parameters& parameters) {
  std::vector<TensorEntry> low_precision,
      floats;  // in this order all of the first stand at multiples of 64 bytes
  Precision precision = Precision::fp32;
  const auto add_floats = [&](const std::string& name, std::vector<int64_t> shape, const float* values,
                              int64_t count) {
    floats.push_back(
        {name, Dtype::f32, std::move(shape), std::as_bytes(std::span(values, static_cast<size_t>(count)))});
  };
  for (const Parameter& parameter : parameters.list()) {
    const LowPrecisionMatrix& held = parameter.value.storage().low_precision;
    if (held.data == nullptr) {
      add_floats(parameter.name, shape_of(parameter), parameter.value.data(), parameter.size());
      continue;
    }
    precision = held.precision;
    const auto size = static_cast<size_t>(low_precision_size(precision, held.rows, held.columns));
    low_precision.push_back({parameter.name, low_precision_dtype(precision),
                             low_precision_shape(precision, operand_of(parameter, nullptr)),
                             std::as_bytes(std::span(held.data, size))});
    if (held.scales != nullptr) add_floats(scales_name(parameter), {held.columns}, held.scales, held.columns);
  }
  low_precision.insert(low_precision.end(), floats.begin(), floats.end());
  write_safetensors(path, {{"format", "dragoman 1"}, {"precision", name_of(precision)}}, low_precision);
}

}  // namespace dragoman
