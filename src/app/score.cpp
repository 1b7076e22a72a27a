// dragoman score: the log-probability of each translation of a file, given its source; of a language model, of each
// line of a text.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/log.h"
#include "base/quotes.h"
#include "dragoman/translator.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t pairs_per_batch = 256;

struct ScoringOptions {
  std::string model, source, target;
  MachineOptions machine;
  int64_t max_length = 2000;
  bool summary = false;
  bool alignment = false;
  int64_t alignment_layer = 0;
  std::string from, to;
};

void declare(Options& options, ScoringOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.machine);
  declare_source(own, o.source);
  own.add("target", o.target,
          "their translations, line by line; with a language model any text, without sources")
      .shows("FILE");
  own.add("max-length", o.max_length, "maximum subwords per side; longer pairs are not scored and print nan",
          at_least(1).at_most(100'000'000));
  own.add("summary", o.summary,
          "print the perplexity of all lines together instead: a subword, a word and a byte; the end of a "
          "line counts "
          "as one of each");
  own.add("alignment", o.alignment, "print the word alignment, too: after |||, as pairs SOURCE-TARGET");
  declare_alignment_layer(own, o.alignment_layer);
  declare_languages(own, o.from, o.to);
}

// Of many lines. Each has an end, which the model predicts, too: it counts as a token, a word and a byte.
struct Perplexity {
  int64_t lines = 0, tokens = 0, words = 0, bytes = 0;
  double log_probability = 0;

  void add(const std::string& text, const Score& score) {
    ++lines;
    tokens += std::ssize(score.log_probabilities);
    words += static_cast<int64_t>(word_count(text)) + 1;
    bytes += std::ssize(text) + 1;
    log_probability += score.total;
  }

  std::string summary() const {
    if (lines == 0) return "no line was scored\n";
    const auto over = [&](int64_t count) { return std::exp(-log_probability / static_cast<double>(count)); };
    return fmt::format(
        "perplexity {:.4f} a subword, {:.4f} a word, {:.4f} a byte ({:.4f} bits)\n"
        "{}, {}, {}, {}, log-probability {:.4f}\n",
        over(tokens), over(words), over(bytes), std::log2(over(bytes)), counted(lines, "line"),
        counted(tokens, "subword"), counted(words, "word"), counted(bytes, "byte"), log_probability);
  }
};

// Scores pairs in batches and prints a line for each, in their order.
class ScorePrinter {
 public:
  ScorePrinter(dragoman::Translator& translator, const ScoringOptions& options)
      : translator_(translator), options_(options) {}

  void add(std::string_view source, std::string_view target) {
    pairs_.push_back({std::string(source), std::string(target)});
    if (pairs_.size() == pairs_per_batch) print();
  }

  void finish() {
    print();
    if (options_.summary) std::cout << all_.summary();
    if (not_scored_ == 0) return;
    log_warning("{} {} of more than {} subwords were not scored{}", not_scored_,
                options_.source.empty() ? "lines" : "pairs with a side",
                std::min(options_.max_length, translator_.info().max_tokens - 1),
                options_.summary ? "" : " and print nan");
  }

 private:
  void print() {
    const ScoreSettings settings = {.max_length = options_.max_length,
                                    .alignment = options_.alignment,
                                    .alignment_layer = options_.alignment_layer,
                                    .from = options_.from,
                                    .to = options_.to};
    const std::vector<Score> scores = translator_.score(pairs_, settings);
    for (size_t i = 0; i < scores.size(); ++i) {
      const bool scored = !std::isnan(scores[i].total);
      not_scored_ += !scored;
      if (scored) all_.add(pairs_[i].target, scores[i]);
      if (options_.summary) continue;
      std::cout << (scored ? fmt::format("{:.4f}", scores[i].total) : "nan");
      std::cout << (options_.alignment ? " ||| " + pharaoh_format(scores[i].alignment) : "") << "\n";
    }
    pairs_.clear();
    flush_output();
  }

  dragoman::Translator& translator_;
  const ScoringOptions& options_;
  std::vector<dragoman::TextPair> pairs_;
  int64_t not_scored_ = 0;
  Perplexity all_;
};

void score_lines(const ScoringOptions& o, ScorePrinter& printer) {
  if (o.source.empty()) {
    LineReader lines(o.target);
    int64_t repairs = 0;
    for (std::string_view line; lines.next(line);) {
      repairs += !is_text(line);
      printer.add("", is_text(line) ? line : repaired(line));
    }
    return warn_of_repairs(lines, repairs);
  }
  ParallelLines lines({o.source, o.target}, InvalidText::repair);
  while (lines.next()) printer.add(lines.line(0), lines.line(1));
}

}  // namespace

void score(const Arguments& arguments) {
  ScoringOptions o;
  if (!read_options(command_named("score"), o, arguments)) return;
  if (o.model.empty() || o.target.empty())
    throw UsageError("score needs --model DIR, --source FILE and --target FILE: see dragoman score --help");
  if (o.alignment_layer > 0 && !o.alignment)
    throw UsageError("--alignment-layer has no effect without --alignment");

  if (o.summary && o.alignment) throw UsageError("--alignment has no effect with --summary");
  dragoman::Translator translator(o.model, settings_of({.machine = o.machine}));
  if (o.source.empty() && !translator.info().language_model)
    throw UsageError("score needs --source FILE: {} is no language model", o.model);
  if (!o.source.empty() && translator.info().language_model)
    throw UsageError("score: {} is a language model, which scores --target FILE without a source", o.model);
  ScorePrinter printer(translator, o);
  score_lines(o, printer);
  printer.finish();
}

}  // namespace dragoman::internal
