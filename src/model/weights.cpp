#include "model/weights.h"

#include <algorithm>

#include "base/error.h"
#include "base/quotes.h"

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

Precision saved_precision(const std::string& path, const SafetensorsFile& file) {
  const auto found = file.metadata().find("precision");
  if (found == file.metadata().end() || found->second == "fp32") return Precision::fp32;
  if (found->second == "bf16") return Precision::bf16;
  if (found->second == "int8") return Precision::int8;
  throw Error("{} has weights in {}, which this version does not support: use a newer one", path,
              in_quotes(found->second));
}

void check_names(const std::string& path, const SafetensorsFile& file, std::vector<std::string> names) {
  std::ranges::sort(names);
  for (const TensorEntry& entry : file.entries()) {
    if (!std::ranges::binary_search(names, entry.name)) {
      throw Error(
          "{} has a tensor {} that the model does not have: the file and config.json do not belong together",
          path, in_quotes(entry.name));
    }
  }
}

void read_weights(const std::string& path, Parameters& parameters, Buffers buffers) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  if (saved_precision(path, file) != Precision::fp32) {
    throw Error(
        "{} holds low-precision weights, for translation only: use the model that they were made from", path);
  }
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters.list()) {
    names.push_back(parameter.name);
    file.floats(parameter.name, parameter.value.rows(), parameter.value.columns());
  }
  check_names(path, file, std::move(names));
  file.verify();
  if (!parameters.allocated()) parameters.allocate(buffers);
  read_flat(file, parameters, parameters.weights());
  parameters.changed();
}

}  // namespace dragoman::internal
