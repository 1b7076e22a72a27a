#include "model/weights.h"

#include <algorithm>

#include "base/error.h"
#include "model/weights_file.h"
#include "nn/low_rank.h"

namespace dragoman::internal {

std::vector<int64_t> shape_of(const Parameter& parameter) {
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  return rows == 1 ? std::vector{columns} : std::vector{rows, columns};
}

std::vector<TensorEntry> flat_entries(const Parameters& parameters, std::span<const float> flat,
                                      const std::string& prefix) {
  std::vector<TensorEntry> entries;
  for (const Parameter& parameter : parameters.list()) {
    const auto values =
        flat.subspan(static_cast<size_t>(parameter.offset), static_cast<size_t>(parameter.size()));
    entries.push_back({.name = prefix + parameter.name,
                       .dtype = Dtype::f32,
                       .shape = shape_of(parameter),
                       .bytes = std::as_bytes(values)});
  }
  return entries;
}

void write_weights(const std::string& path, const Parameters& parameters, std::span<const float> flat) {
  write_safetensors(path, {{"format", "dragoman 1"}}, flat_entries(parameters, flat));
}

void read_flat(const SafetensorsFile& file, const Parameters& parameters, std::span<float> flat,
               const std::string& prefix) {
  for (const Parameter& parameter : parameters.list()) {
    const auto values =
        file.floats(prefix + parameter.name, parameter.value.rows(), parameter.value.columns());
    parameters.memory().upload(flat.data() + parameter.offset, values.data(), values.size_bytes());
  }
}

namespace {

// Checks all that the file has of the parameters, and returns it: nothing of updates that it lacks.
std::vector<WeightsFile::Values> values_of(const WeightsFile& file, const Parameters& parameters) {
  const bool has_updates = std::ranges::any_of(
      parameters.list(), [](const Parameter& parameter) { return is_low_rank(parameter.name); });
  std::vector<WeightsFile::Values> all;
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters.list()) {
    const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
    names.push_back(parameter.name);
    if (!has_updates) {
      all.push_back(file.values(parameter));
    } else if (is_low_rank(parameter.name) && !file.has(parameter.name)) {
      all.emplace_back();
    } else {
      all.push_back({file.with(parameter.name).floats(parameter.name, rows, columns), nullptr});
    }
  }
  file.check_names(names);
  return all;
}

}  // namespace

void read_weights(const std::string& path, Parameters& parameters, Buffers buffers) {
  const WeightsFile file(path);
  if (file.precision() != Precision::fp32) {
    throw Error(
        "{} holds low-precision weights, for translation only: use the model that they were made from", path);
  }
  const std::vector<WeightsFile::Values> all = values_of(file, parameters);
  file.verify();
  if (!parameters.allocated()) parameters.allocate(buffers);
  for (size_t i = 0; i < all.size(); ++i) {
    float* const to = parameters.weights().data() + parameters.list()[i].offset;
    parameters.memory().upload(to, all[i].floats.data(), all[i].floats.size_bytes());
  }
  parameters.changed();
}

}  // namespace dragoman::internal
