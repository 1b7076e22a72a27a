#include "report/explain.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/quotes.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

struct NamedStep {
  const char* name;
  Step (*explain)(const TracedPair&, const ExplainOptions&);
};

constexpr NamedStep steps[] = {{"tokens", explain_tokens},       {"embedding", explain_embedding},
                               {"positions", explain_positions}, {"attention", explain_attention},
                               {"norm", explain_norm},           {"feed-forward", explain_feed_forward},
                               {"output", explain_output},       {"loss", explain_loss},
                               {"gradient", explain_gradient}};

// The stacks may have different numbers of them: the one that has fewer says so where it is shown.
void check_number(const char* option, int64_t number, int64_t encoder, int64_t decoder) {
  if (number >= 1 && number <= std::max(encoder, decoder)) return;
  throw OptionError(option, fmt::format("is {}, but the model has {} {}s: count from 1", number,
                                        std::max(encoder, decoder), option));
}

void check_options(const ModelConfig& config, const ExplainOptions& options) {
  std::vector<std::string> names = step_names();
  names.emplace_back("all");
  if (std::ranges::find(names, options.step) == names.end())
    throw OptionError("step", fmt::format("is {}, but must be one of {}{}", in_quotes(options.step),
                                          fmt::join(names, ", "), suggestion(options.step, names)));
  check_number("layer", options.layer, encoder_layers(config), config.decoder_layers);
  check_number("head", options.head, has_encoder(config) ? config.heads : 0, decoder_heads(config));
}

}  // namespace

std::vector<std::string> step_names() {
  std::vector<std::string> names;
  std::ranges::transform(steps, std::back_inserter(names), &NamedStep::name);
  return names;
}

Explanation explain(Transformer& model, const ExplainedPair& pair, const ExplainOptions& options) {
  check_options(model.config, options);
  const TracedPair traced(model, pair);
  Explanation explanation;
  if (traced.is_low_precision())
    explanation.notes.emplace_back(
        "This model's weights are in low precision: its products are of rounded numbers, and training, which "
        "has "
        "gradients, needs fp32.");
  for (const NamedStep& step : steps) {
    if (options.step == "all" || options.step == step.name)
      explanation.steps.push_back(step.explain(traced, options));
  }
  return explanation;
}

}  // namespace dragoman::internal
