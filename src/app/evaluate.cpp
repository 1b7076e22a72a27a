// dragoman evaluate: translates a test set and compares with its references.
#include <algorithm>
#include <array>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/options.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/parallel_lines.h"
#include "app/scores.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/json.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "report/numbers.h"
#include "text/noise.h"
#include "text/tags.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

enum class TestNoise { none, upper, title, typos, tags };

struct EvaluateOptions {
  TranslatingOptions translating;
  std::string source;
  std::vector<std::string> references;
  bool by_length = false;
  TestNoise noise = TestNoise::none;
  ScoreOptions scores;
};

void declare(Options& options, EvaluateOptions& o) {
  auto own = options.section("", "Options");
  declare_models_and_batch(own, o.translating);
  declare_source(own, o.source);
  declare_references(own, o.references);
  own.add("noise", o.noise,
          "change the test set first: upper case, title case or a tag such as <b>...</b> on both sides, or "
          "spelling mistakes in the source, by --seed",
          {{"none", TestNoise::none},
           {"upper", TestNoise::upper},
           {"title", TestNoise::title},
           {"typos", TestNoise::typos},
           {"tags", TestNoise::tags}});
  own.add("by-length", o.by_length, "also print scores by source length; in JSON, as one more object");
  declare(own, o.scores);
}

// The longest source, in words, of each row; a last row has all longer ones.
constexpr std::array<size_t, 5> longest_of_row = {5, 10, 20, 30, 50};

struct ScoreRow {
  int64_t sentences = 0;
  BleuStatistics bleu;
  ChrfStatistics chrf;
};

class LengthTable {
 public:
  LengthTable(const MetricOptions& of_metrics, int64_t digits) : metrics_(of_metrics), digits_(digits) {}

  void add(const std::string& source, const std::string& translation,
           std::span<const std::string_view> references) {
    const size_t words = word_count(source);
    const auto place = std::ranges::lower_bound(longest_of_row, words);
    ScoreRow& row = rows_[static_cast<size_t>(place - longest_of_row.begin())];
    ++row.sentences;
    row.bleu += bleu_statistics(translation, references, metrics_.bleu);
    row.chrf += chrf_statistics(translation, references, metrics_.chrf);
  }

  std::string text() const {
    std::string text = fmt::format("\n{:<16}{:>10}{:>9}{:>9}{:>9}\n", "words of source", "sentences", "BLEU",
                                   chrf_name(metrics_.chrf), "ratio");
    for (size_t i = 0; i < rows_.size(); ++i) {
      const ScoreRow& row = rows_[i];
      if (row.sentences == 0) continue;
      const BleuScore bleu = bleu_score(row.bleu);
      text += fmt::format("{:<16}{:>10}{:>9.{}f}{:>9.{}f}{:>9.3f}\n", name(i), row.sentences, bleu.score,
                          digits_, chrf_score(row.chrf), digits_, bleu.ratio);
    }
    return text + "ratio: words of the translations / words of the references\n";
  }

  // The last row has no "to".
  ordered_json json() const {
    ordered_json list = ordered_json::array();
    for (size_t i = 0; i < rows_.size(); ++i) {
      const ScoreRow& row = rows_[i];
      if (row.sentences == 0) continue;
      const BleuScore bleu = bleu_score(row.bleu);
      ordered_json object = {{"from", shortest(i)}};
      if (i < longest_of_row.size()) object["to"] = longest_of_row[i];
      object["sentences"] = row.sentences;
      object["BLEU"] = as_printed(bleu.score, digits_);
      object[chrf_name(metrics_.chrf)] = as_printed(chrf_score(row.chrf), digits_);
      object["ratio"] = as_printed(bleu.ratio, 3);
      list.push_back(std::move(object));
    }
    return {{"name", "by_length"}, {"rows", std::move(list)}};
  }

 private:
  static size_t shortest(size_t row) { return row == 0 ? 0 : longest_of_row[row - 1] + 1; }

  static std::string name(size_t row) {
    if (row == longest_of_row.size()) return fmt::format("{} and more", shortest(row));
    return fmt::format("{} to {}", shortest(row), longest_of_row[row]);
  }

  MetricOptions metrics_;
  int64_t digits_;
  std::array<ScoreRow, longest_of_row.size() + 1> rows_;
};

struct TestSet {
  std::vector<std::string> sources;
  std::vector<std::vector<std::string>> references;  // of each source
};

// Before anything is translated, so that a mismatch shows at once. Each file is read once, as it may be a pipe.
TestSet read_test_set(const EvaluateOptions& o) {
  std::vector<std::string> files = {o.source};
  files.insert(files.end(), o.references.begin(), o.references.end());
  ParallelLines lines(files, InvalidText::repair);
  TestSet set;
  while (lines.next()) {
    const auto references = lines.lines().subspan(1);
    set.sources.emplace_back(lines.line(0));
    set.references.emplace_back(references.begin(), references.end());
  }
  if (set.sources.empty()) throw Error("{} is empty: nothing to evaluate", o.source);
  return set;
}

void add_test_noise(TestSet& set, const EvaluateOptions& o) {
  const auto seed = static_cast<uint64_t>(o.translating.search.seed);
  const TranslationLanguages languages = languages_of(o.translating);
  for (size_t i = 0; i < set.sources.size(); ++i) {
    std::string& source = set.sources[i];
    Random random(mix(mix(seed, "test noise"), i));
    if (o.noise == TestNoise::typos) source = misspelt(source, random, languages.from);
    if (o.noise == TestNoise::tags) add_tags(source, set.references[i], random);
    if (o.noise == TestNoise::upper || o.noise == TestNoise::title) {
      const auto change = o.noise == TestNoise::upper ? upper_cased : title_cased;
      source = change(source, languages.from);
      for (std::string& reference : set.references[i]) reference = change(reference, languages.to);
    }
  }
}

std::string printed(const EvaluateOptions& o, const Scores& scores, const LengthTable& table) {
  if (!o.by_length) return scores.print();
  if (o.scores.format == OutputFormat::text) return scores.text() + table.text();
  ordered_json all = scores.json();
  all.push_back(table.json());
  return json_text(all, 1) + "\n";
}

}  // namespace

void evaluate(const Arguments& arguments) {
  EvaluateOptions o;
  Options options, search;
  declare(options, o);
  declare_search(search, o.translating.search);
  CommandLine line("evaluate", summary_of("evaluate"));
  line.add_options(options);
  add_search(line, search);
  if (!line.read(arguments)) return;
  if (o.translating.models.empty() || o.source.empty() || o.references.empty()) {
    throw UsageError(
        "evaluate needs --model DIR, --source FILE and --reference FILE: see dragoman evaluate --help");
  }
  const bool samples = checked_search(o.translating.models[0], search).sample;
  if (o.translating.search.nbest > 1 && !samples)
    throw UsageError("--nbest has no effect on evaluate, which measures the best translation of each line");
  watch_signals();

  const MetricOptions of_metrics = o.scores.metric_options();
  Scores scores(o.scores, o.references.size(), of_metrics);
  LengthTable table(of_metrics, o.scores.digits);
  TestSet set = read_test_set(o);
  add_test_noise(set, o);
  size_t number = 0;
  StatusLine status;
  translate_lines(o.translating, given_options(search), set.sources, [&](const dragoman::Translation& done) {
    const auto& texts = set.references.at(number++);
    const std::vector<std::string_view> references(texts.begin(), texts.end());
    const std::string& text = done.text();
    scores.add(text, references);
    if (o.by_length) table.add(done.source, text, references);
    status.show("translating", static_cast<double>(number) / static_cast<double>(set.sources.size()),
                static_cast<double>(number), "lines");
  });
  status.clear();
  std::cout << printed(o, scores, table);
}

}  // namespace dragoman::internal
