#include "model/weights.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace dragoman {

std::vector<TensorEntry> flat_entries(const Parameters& parameters, std::span<const float> flat,
                                      const std::string& prefix) {
  std::vector<TensorEntry> entries;
  for (const Parameter& parameter : parameters.list()) {
    const auto values =
        flat.subspan(static_cast<size_t>(parameter.offset), static_cast<size_t>(parameter.size()));
    const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
    entries.push_back({.name = prefix + parameter.name,
                       .dtype = Dtype::f32,
                       .shape = rows == 1 ? std::vector{columns} : std::vector{rows, columns},
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
    std::ranges::copy(values, flat.begin() + parameter.offset);
  }
}

namespace {

// That the file has these parameters, in these sizes, and nothing else.
void check_entries(const std::string& path, const SafetensorsFile& file, const Parameters& parameters) {
  std::set<std::string> names;
  for (const Parameter& parameter : parameters.list()) names.insert(parameter.name);
  for (const TensorEntry& entry : file.entries()) {
    if (!names.contains(entry.name)) {
      throw Error(
          "{} has a tensor {} that the model's configuration has no place for: the file and config.json do "
          "not belong together",
          path, entry.name);
    }
  }
  for (const Parameter& parameter : parameters.list())
    file.floats(parameter.name, parameter.value.rows(), parameter.value.columns());
}

}  // namespace

void read_weights(const std::string& path, Parameters& parameters) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  check_entries(path, file, parameters);
  if (!parameters.allocated()) parameters.allocate(Buffers::weights);
  read_flat(file, parameters, parameters.weights());
  parameters.changed();
}

}  // namespace dragoman
