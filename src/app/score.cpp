// dragoman score: the log-probability of each translation of a file, given its source.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/paired_lines.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/log.h"
#include "dragoman/translator.h"

namespace dragoman::internal {
namespace {

constexpr size_t pairs_per_batch = 256;

struct ScoringOptions {
  std::string model, source, target;
  int64_t threads = 0;
  RequestedPrecision precision = RequestedPrecision::as_saved;
  int64_t max_length = 2000;
  bool alignment = false;
  int64_t alignment_layer = 0;
  std::string from, to;
};

void declare(Options& options, ScoringOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.threads, o.precision);
  declare_source(own, o.source);
  own.add("target", o.target, "their translations, line by line").shows("FILE");
  own.add("max-length", o.max_length, "maximum subwords per side; longer pairs are not scored and print nan",
          at_least(1).at_most(100'000'000));
  own.add("alignment", o.alignment, "print the word alignment, too: after |||, as pairs SOURCE-TARGET");
  declare_alignment_layer(own, o.alignment_layer);
  declare_languages(own, o.from, o.to);
}

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
    if (not_scored_ == 0) return;
    log_warning("{} pairs with a side of more than {} subwords were not scored and print nan", not_scored_,
                std::min(options_.max_length, translator_.info().max_tokens - 1));
  }

 private:
  void print() {
    const ScoreSettings settings = {.max_length = options_.max_length,
                                    .alignment = options_.alignment,
                                    .alignment_layer = options_.alignment_layer,
                                    .from = options_.from,
                                    .to = options_.to};
    for (const Score& score : translator_.score(pairs_, settings)) {
      const bool scored = !std::isnan(score.total);
      std::cout << (scored ? fmt::format("{:.4f}", score.total) : "nan");
      std::cout << (options_.alignment ? " ||| " + pharaoh_format(score.alignment) : "") << "\n";
      not_scored_ += !scored;
    }
    pairs_.clear();
    flush_output();
  }

  dragoman::Translator& translator_;
  const ScoringOptions& options_;
  std::vector<dragoman::TextPair> pairs_;
  int64_t not_scored_ = 0;
};

}  // namespace

void score(const Arguments& arguments) {
  ScoringOptions o;
  if (!read_options(command_named("score"), o, arguments)) return;
  if (o.model.empty() || o.source.empty() || o.target.empty())
    throw UsageError("score needs --model DIR, --source FILE and --target FILE: see dragoman score --help");
  if (o.alignment_layer > 0 && !o.alignment)
    throw UsageError("--alignment-layer has no effect without --alignment");

  PairedLines lines(o.source, o.target, InvalidText::repair);
  dragoman::Translator translator(o.model, settings_of({.threads = o.threads, .precision = o.precision}));
  ScorePrinter printer(translator, o);
  while (lines.next()) printer.add(lines.first(), lines.second());
  printer.finish();
}

}  // namespace dragoman::internal
