#include "adapt/update.h"

#include "kernels/kernels.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "model/weights_file.h"
#include "nn/low_rank.h"

namespace dragoman::internal {
namespace {

std::vector<float> floats_of(const SafetensorsFile& file, const Parameter& parameter) {
  const auto values = file.floats(parameter.name, parameter.value.rows(), parameter.value.columns());
  return {values.begin(), values.end()};
}

bool is_vector(const Parameter& parameter) {
  return parameter.value.rows() == 1 && !is_low_rank(parameter.name);
}

}  // namespace

// Of the sum W + A·B as much is kept as of the rest: the share of B.
void write_update(const AdaptConfig& config, const TunedModel& tuned, const std::string& folder) {
  Device device(kernels_for("baseline"), 1);
  Transformer model(read_model_config(config.model), device, Buffers::none_yet);
  if (tuned.weights == Trainable::low_rank) declare_low_rank_updates(model.parameters, config.rank);
  const auto run = SafetensorsFile::open(weights_path(tuned.run)),
             chosen = SafetensorsFile::open(weights_path(tuned.chosen));
  std::vector<std::vector<float>> values;
  std::vector<TensorEntry> entries;
  const auto add = [&](const Parameter& parameter, std::vector<float> floats) {
    values.push_back(std::move(floats));
    entries.push_back({.name = parameter.name,
                       .dtype = Dtype::f32,
                       .shape = shape_of(parameter),
                       .bytes = std::as_bytes(std::span(values.back()))});
  };
  for (const Parameter& parameter : model.parameters.list()) {
    if (is_vector(parameter)) add(parameter, floats_of(chosen, parameter));
    if (!is_low_rank(parameter.name)) continue;
    std::vector<float> floats = floats_of(run, parameter);
    if (is_low_rank_out(parameter.name))
      for (float& value : floats) value *= static_cast<float>(tuned.share);
    add(parameter, std::move(floats));
  }
  write_safetensors(weights_path(folder), update_metadata(config.out, config.model), entries);
}

}  // namespace dragoman::internal
