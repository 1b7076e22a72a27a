#include "train/run_model.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/error.h"
#include "model/folder.h"
#include "model/weights.h"

namespace dragoman::internal {
namespace {

constexpr const char* step_key = "step";
constexpr const char* resumable_key = "resumable";

RunModel model_of(const SafetensorsFile& file) {
  const Metadata& metadata = file.metadata();
  const auto step = metadata.find(step_key);
  return {.step = step != metadata.end() ? step->second : "", .resumable = !metadata.contains(resumable_key)};
}

}  // namespace

RunModel model_of_step(int64_t step, bool resumable) {
  return {.step = std::to_string(step), .resumable = resumable};
}

RunModel model_of_average(const std::vector<int64_t>& steps) {
  return {.step = fmt::format("average of {}", fmt::join(steps, ", "))};
}

void write_run_model(const std::string& folder, const Parameters& parameters, std::span<const float> weights,
                     const RunModel& model) {
  Metadata metadata = {{"format", "dragoman 1"}, {step_key, model.step}};
  if (!model.resumable) metadata[resumable_key] = "no";
  write_safetensors(weights_path(folder), metadata, flat_entries(parameters, weights));
}

bool has_run_model(const std::string& folder, const Parameters& parameters, std::span<const float> weights,
                   const RunModel& model) {
  try {
    const auto file = SafetensorsFile::open(weights_path(folder));
    const RunModel found = model_of(file);
    const std::vector<TensorEntry> wanted = flat_entries(parameters, weights);
    return found.step == model.step && found.resumable == model.resumable &&
           file.entries().size() == wanted.size() &&
           std::ranges::all_of(wanted, [&](const TensorEntry& entry) {
             return file.has(entry.name) && std::ranges::equal(file.find(entry.name).bytes, entry.bytes);
           });
  } catch (const Error&) {
    return false;
  }
}

RunModel read_run_model(const std::string& folder) {
  return model_of(SafetensorsFile::open(weights_path(folder)));
}

}  // namespace dragoman::internal
