// dragoman explain: what a model computes for a pair of sentences, from subwords to the loss and a gradient.
#include "report/explain.h"

#include <algorithm>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/json.h"
#include "search/saved_model.h"
#include "search/text_ids.h"
#include "text/unicode.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

struct ExplainCommand {
  std::string model, source, target, from, to;
  MachineOptions machine;
  ExplainOptions explain;
  OutputFormat format = OutputFormat::text;
  int64_t columns = 8;
};

void declare(Options& options, ExplainCommand& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.machine);
  own.add("source", o.source, "a sentence; language models have none");
  own.add("target", o.target, "its translation, or any text for a language model");
  own.add("step", o.explain.step,
          "only this step: tokens, embedding, positions, attention, norm, feed-forward, output, loss or "
          "gradient")
      .shows("NAME");
  own.add("layer", o.explain.layer, "layer of the encoder and of the decoder, counted from 1", at_least(1));
  own.add("head", o.explain.head, "attention head, counted from 1", at_least(1));
  own.add("weight", o.explain.weight,
          "the parameter for the gradient, by its name in the model file; by default a matrix of the layer's "
          "feed-forward network")
      .shows("NAME");
  own.add("columns", o.columns, "text: columns of vectors that are shown; 0: all", at_least(0));
  declare_format(own, o.format, "text, or a JSON object with all columns");
  declare_languages(own, o.from, o.to);
}

void check(const ExplainCommand& o, const Options& given) {
  if (o.model.empty() || !given.is_given("target"))
    throw UsageError(
        "explain needs --model DIR, --source SENTENCE and --target SENTENCE: see dragoman explain --help");
  if (o.format == OutputFormat::json && given.is_given("columns"))
    throw UsageError("--columns has no effect with --format json, which has all columns");
}

// Of a side, with its marks: there is a row for each, and one of logits is as wide as the vocabulary.
constexpr int64_t most_subwords = 128;

// The smoothing that the model was trained with; the paper's where it does not say so.
Smoothing smoothing_of(const SavedModel& model) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  for (const char* key : {"label_smoothing", "smoothing_over"}) {
    const nlohmann::json::json_pointer place(fmt::format("/recipe/training/{}", key));
    if (model.config.contains(place))
      options.from_json({{"training", {{key, model.config.at(place)}}}}, model.folder + "/config.json");
  }
  return {static_cast<float>(recipe.training.label_smoothing), recipe.training.smoothing_over};
}

std::vector<int32_t> read_source(const SavedModel& model, const ExplainCommand& o, const Options& given) {
  if (!has_encoder(model.model.config)) {
    if (given.is_given("source"))
      throw UsageError("{} is a language model, which reads no source: remove --source", o.model);
    return {};
  }
  if (!given.is_given("source")) throw UsageError("explain needs --source SENTENCE: {} translates", o.model);
  return source_ids(model, o.source, {.from = o.from, .to = o.to});
}

ExplainedPair pair_of(const SavedModel& model, const ExplainCommand& o, const Options& given) {
  const SearchOptions languages = {.from = o.from, .to = o.to};
  const std::vector<int32_t> target = target_ids(model, o.target, languages);
  ExplainedPair pair = {.source = read_source(model, o, given),
                        .read = {target.begin(), target.end() - 1},
                        .expected = {target.begin() + 1, target.end()},
                        .given = model.direction(languages).start.forced_length(),
                        .source_piece = [&](int32_t id) { return model.vocabularies.source->piece(id); },
                        .target_piece = [&](int32_t id) { return model.vocabularies.target->piece(id); }};
  if (pair.expected.size() == pair.given) throw UsageError("--target has no token that the model predicts");
  const auto longest = static_cast<int64_t>(std::max(pair.source.size(), pair.read.size()));
  const int64_t most = std::min(most_subwords, model.max_positions);
  if (longest > most)
    throw UsageError(
        "a side of the pair has {} subwords, but explain shows at most {}{}: give shorter sentences", longest,
        most, most < most_subwords ? " of this model" : "");
  return pair;
}

nlohmann::ordered_json json_of(const ExplainCommand& o, const Explanation& explanation) {
  nlohmann::ordered_json json = {{"source", repaired(o.source)}, {"target", repaired(o.target)}};
  json.update(to_json(explanation));
  return json;
}

// Unless a user asks for other ones, the columns that fit into a line.
TextLayout layout_of(const ExplainCommand& o, const Options& given) {
  constexpr int64_t labels = 16, column = 10;
  const int64_t width = terminal_width(), fitting = (width - labels) / column;
  return {.columns = given.is_given("columns") ? o.columns : std::min(o.columns, fitting), .width = width};
}

}  // namespace

void explain(const Arguments& arguments) {
  ExplainCommand o;
  Options options;
  declare(options, o);
  CommandLine line("explain", summary_of("explain"));
  line.add_options(options);
  if (!line.read(arguments)) return;
  check(o, options);
  const auto model = load_model(o.model, o.machine);
  o.explain.smoothing = smoothing_of(*model);
  const ExplainedPair pair = pair_of(*model, o, options);
  Explanation explanation;
  options.check([&] { explanation = explain(model->model, pair, o.explain); });
  std::cout << (o.format == OutputFormat::json ? json_text(json_of(o, explanation)) + "\n"
                                               : to_text(explanation, layout_of(o, options)));
  flush_output();
}

}  // namespace dragoman::internal
