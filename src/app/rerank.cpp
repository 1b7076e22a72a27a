// dragoman rerank: of the translations that a search lists, those that other models find better, too.
#include <cmath>
#include <functional>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "base/quotes.h"
#include "dragoman/translator.h"
#include "metrics/reranking.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

struct RerankOptions {
  std::string nbest, source, backward, language_model, tune;
  double backward_weight = 0.5, language_model_weight = 0.1, length_weight = 0;
  MachineOptions machine;
};

void declare(Options& options, RerankOptions& o) {
  auto own = options.section("", "Options");
  own.add("nbest", o.nbest,
          "what translate --nbest N printed: NUMBER ||| TEXT ||| SCORE; - is standard input")
      .shows("FILE");
  own.add("source", o.source, "the lines that were translated, for --backward").shows("FILE");
  own.add("backward", o.backward, "model of the other direction: log p of the source, given each translation")
      .shows("DIR");
  own.add("language-model", o.language_model, "language model: log p of each translation").shows("DIR");
  own.add("backward-weight", o.backward_weight,
          "factor of the backward model's log p; the given score has 1");
  own.add("language-model-weight", o.language_model_weight, "factor of the language model's log p");
  own.add("length-weight", o.length_weight, "added for each word of a translation");
  own.add("tune", o.tune,
          "reference translations, line by line: find the weights that give the best BLEU on them, and print "
          "those, "
          "too")
      .shows("FILE");
  declare_machine(own, o.machine);
}

struct Listed {
  std::string text;
  ListedCandidate candidate;
};
using Lists = std::vector<std::vector<Listed>>;  // of each line

constexpr std::string_view separator = " ||| ";

// NUMBER ||| TEXT ||| SCORE, and perhaps ||| ALIGNMENT, which is not a number. The text may have ||| in it, too.
class ListReader {
 public:
  explicit ListReader(const std::string& path) : lines_(path) {}

  Lists read() {
    Lists lists;
    for (std::string_view line; lines_.next(line);) {
      check_is_text(line, lines_);
      const auto number = parse_number<size_t>(line.substr(0, line.find(separator)));
      if (!number) refuse();
      if (*number == lists.size()) lists.emplace_back();
      if (lists.empty() || *number != lists.size() - 1) refuse();
      line.remove_prefix(std::min(line.find(separator) + separator.size(), line.size()));
      auto score = parse_number<double>(take_last(line));
      if (!score) score = parse_number<double>(take_last(line));
      if (!score || !std::isfinite(*score)) refuse();
      lists.back().push_back({std::string(line), {.features = {*score}}});
    }
    return lists;
  }

 private:
  // The last field, which the line then lacks.
  std::string_view take_last(std::string_view& line) const {
    const size_t end = line.rfind(separator);
    if (end == line.npos) refuse();
    const std::string_view field = line.substr(end + separator.size());
    line = line.substr(0, end);
    return field;
  }

  [[noreturn]] void refuse() const {
    throw Error(
        "{}:{}: not a line of translate --nbest, NUMBER ||| TEXT ||| SCORE with numbers in their order",
        lines_.path(), lines_.number());
  }

  LineReader lines_;
};

std::vector<std::string> lines_of_file(const std::string& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    check_is_text(line, reader);
    lines.emplace_back(line);
  }
  return lines;
}

// For each text of the lists a feature more: the log-probability of `pair` of its line and itself.
using ToPair = std::function<dragoman::TextPair(size_t line, const std::string& text)>;
void add_scores(Lists& lists, const std::string& folder, const RerankOptions& o, const ToPair& pair,
                bool of_language_model) {
  dragoman::Translator model(folder, settings_of({.machine = o.machine}));
  if (of_language_model && !model.info().language_model) throw UsageError("{} is no language model", folder);
  if (!of_language_model && model.info().language_model)
    throw UsageError("{} is a language model, which translates nothing", folder);
  std::vector<dragoman::TextPair> pairs;
  for (size_t i = 0; i < lists.size(); ++i)
    for (const Listed& one : lists[i]) pairs.push_back(pair(i, one.text));
  const std::vector<Score> scores = model.score(pairs);
  size_t next = 0;
  for (std::vector<Listed>& list : lists) {
    for (Listed& one : list) {
      const double total = scores[next++].total;
      one.candidate.features.push_back(std::isnan(total) ? -1e9 : total);  // too long to be scored
    }
  }
}

// The weights, and the names of the flags that set them: of those features that there are.
struct Weights {
  std::vector<double> values = {1};
  std::vector<const char*> flags = {};

  void add(const char* flag, double value) {
    flags.push_back(flag);
    values.push_back(value);
  }
};

Weights add_features(Lists& lists, const std::vector<std::string>& sources, const RerankOptions& o) {
  Weights weights;
  if (!o.backward.empty()) {
    weights.add("--backward-weight", o.backward_weight);
    add_scores(
        lists, o.backward, o,
        [&](size_t line, const std::string& text) {
          return dragoman::TextPair{text, sources[line]};
        },
        false);
  }
  if (!o.language_model.empty()) {
    weights.add("--language-model-weight", o.language_model_weight);
    add_scores(
        lists, o.language_model, o,
        [](size_t, const std::string& text) {
          return dragoman::TextPair{"", text};
        },
        true);
  }
  weights.add("--length-weight", o.length_weight);
  for (std::vector<Listed>& list : lists)
    for (Listed& one : list) one.candidate.features.push_back(static_cast<double>(word_count(one.text)));
  return weights;
}

std::vector<std::vector<ListedCandidate>> candidates_of(const Lists& lists) {
  std::vector<std::vector<ListedCandidate>> all;
  for (const std::vector<Listed>& list : lists) {
    all.emplace_back();
    for (const Listed& one : list) all.back().push_back(one.candidate);
  }
  return all;
}

// One for each list.
std::vector<std::string> lines_for(const Lists& lists, const std::string& path, const std::string& nbest) {
  std::vector<std::string> lines = lines_of_file(path);
  if (lines.size() != lists.size())
    throw Error("{} has {}, but {} has translations of {}", path, counted(std::ssize(lines), "line"), nbest,
                counted(std::ssize(lists), "line"));
  return lines;
}

void tune(Lists& lists, const std::vector<std::string>& references, Weights& weights) {
  for (size_t i = 0; i < lists.size(); ++i)
    for (Listed& one : lists[i]) one.candidate.statistics = bleu_statistics(one.text, references[i]);
  const auto candidates = candidates_of(lists);
  std::vector<double> of_search(weights.values.size(), 0);
  of_search[0] = 1;
  weights.values = tuned_weights(candidates);
  std::string flags;
  for (size_t i = 0; i < weights.flags.size(); ++i)
    flags += fmt::format(" {} {:.4g}", weights.flags[i], weights.values[i + 1]);
  log_info("BLEU {:.2f} by the search's scores, {:.2f} with{}", bleu_of_best(candidates, of_search),
           bleu_of_best(candidates, weights.values), flags);
}

// A weight without its model would be ignored.
void check(const RerankOptions& o) {
  const RerankOptions defaults;
  const bool weighs_backward = o.backward_weight != defaults.backward_weight,
             weighs_language_model = o.language_model_weight != defaults.language_model_weight;
  if (o.nbest.empty()) throw UsageError("rerank needs --nbest FILE: see dragoman rerank --help");
  if (!o.backward.empty() && o.source.empty())
    throw UsageError("--backward needs --source FILE, the lines that were translated");
  if (o.backward.empty() && weighs_backward)
    throw UsageError("--backward-weight has no effect without --backward DIR");
  if (o.language_model.empty() && weighs_language_model)
    throw UsageError("--language-model-weight has no effect without --language-model DIR");
  if (!o.tune.empty() &&
      (weighs_backward || weighs_language_model || o.length_weight != defaults.length_weight))
    throw UsageError(
        "--tune finds the weights by itself: leave out --backward-weight, --language-model-weight and "
        "--length-weight");
  if (int64_t{o.nbest == "-"} + int64_t{o.source == "-"} + int64_t{o.tune == "-"} > 1)
    throw UsageError(
        "standard input can be only one of --nbest, --source and --tune: name files for the others");
}

}  // namespace

void rerank(const Arguments& arguments) {
  RerankOptions o;
  if (!read_options(command_named("rerank"), o, arguments)) return;
  check(o);
  Lists lists = ListReader(o.nbest).read();
  if (lists.empty()) throw Error("{} is empty: nothing to rerank", o.nbest);
  std::vector<std::string> sources, references;
  if (!o.source.empty()) sources = lines_for(lists, o.source, o.nbest);
  if (!o.tune.empty()) references = lines_for(lists, o.tune, o.nbest);
  Weights weights = add_features(lists, sources, o);
  if (!o.tune.empty()) tune(lists, references, weights);
  const auto candidates = candidates_of(lists);
  for (size_t i = 0; i < lists.size(); ++i)
    std::cout << lists[i][best_candidate(candidates[i], weights.values)].text << "\n";
  flush_output();
}

}  // namespace dragoman::internal
