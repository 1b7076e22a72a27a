#include "convert/marian/calibration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "ops/trace.h"
#include "search/score.h"
#include "search/search.h"

namespace dragoman::internal {
namespace {

constexpr double deviations_above_mean = 1.1;  // as Bergamot's own tools have it

float largest_of(const Tensor& x) {
  float largest = 0;
  for (const float value : x.values()) largest = std::max(largest, std::abs(value));
  return largest;
}

std::vector<int32_t> greedy_output(SavedModel& model, const PackedSide& source) {
  const SpecialTokens& special = model.vocabularies.target->special();
  SearchOptions options = model.search;
  options.beam = options.nbest = 1;
  const SearchSettings settings = {.start = special.start,
                                   .end = special.end,
                                   .suppressed = model.vocabularies.target->suppressed(),
                                   .max_output_length = model.max_positions - 1};
  const auto found = search_all(model.model, source, options, settings);
  return found[0].empty() ? std::vector<int32_t>() : found[0][0].tokens;
}

using Inputs = std::map<std::string, std::vector<float>>;  // of each line the greatest

// One line's translation, computed as in training.
void add_line(SavedModel& model, const std::vector<int32_t>& source_ids, Inputs& inputs) {
  PackedSide sources, targets;
  sources.add(source_ids.data(), source_ids.data() + source_ids.size());
  const std::vector<int32_t> output = greedy_output(model, sources);
  targets.add(output.data(), output.data() + output.size());
  const PackedSide read = shifted(targets, model.vocabularies.target->special().start);

  Trace trace;
  Pass pass{model.device};
  pass.trace = &trace;
  const std::vector<uint64_t> pairs = {0};
  const Tokens source = pack_tokens(model.device, sources.ids, sources.lengths, pairs),
               target = pack_tokens(model.device, read.ids, read.lengths, pairs);
  const Tensor decoded = decode(pass, model.model, target, memory_of(pass, model.model, source));
  inputs[generator_input].push_back(largest_of(decoded));
  for (const Parameter& parameter : model.model.parameters.list()) {
    float largest = -1;
    for (const Trace::Product& product : trace.products)
      if (&product.weight.storage() == &parameter.value.storage())
        largest = std::max(largest, largest_of(product.x));
    if (largest >= 0) inputs[parameter.name].push_back(largest);
  }
}

float usual_largest(const std::vector<float>& of_lines) {
  double sum = 0, squares = 0;
  for (const float value : of_lines) {
    sum += value;
    squares += double{value} * value;
  }
  const double mean = sum / static_cast<double>(of_lines.size());
  const double variance = std::max(0.0, squares / static_cast<double>(of_lines.size()) - mean * mean);
  return static_cast<float>(mean + deviations_above_mean * std::sqrt(variance));
}

}  // namespace

std::map<std::string, float> largest_inputs(SavedModel& model, const std::vector<std::string>& lines) {
  Inputs inputs;
  for (const std::string& line : lines) {
    const std::vector<int32_t> source = model.encode_source(line);
    if (!source.empty()) add_line(model, source, inputs);
  }
  if (inputs.empty()) throw Error("there is no text to measure the sizes of activations by");
  std::map<std::string, float> largest;
  for (const auto& [name, of_lines] : inputs) largest[name] = usual_largest(of_lines);
  return largest;
}

}  // namespace dragoman::internal
