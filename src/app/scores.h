// BLEU, chrF and TER of a corpus, as the commands that measure translations print them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/shared_options.h"
#include "base/options.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/exact_match.h"
#include "metrics/ter.h"

namespace dragoman::internal {

struct ScoreOptions {
  bool lowercase = false;
  Tokenizer tokenizer = Tokenizer::thirteen_a;
  int64_t word_order = 0;
  int64_t digits = 2;
  bool ter = false;
  bool exact_match = false;
  OutputFormat format = OutputFormat::text;

  BleuOptions bleu() const { return {.tokenizer = tokenizer, .lowercase = lowercase}; }
  ChrfOptions chrf() const { return {.word_order = static_cast<int>(word_order), .lowercase = lowercase}; }
};

// Among a command's own flags.
void declare(Section& own, ScoreOptions& scores);

// The number that is read back from the value printed with this many digits after the decimal point.
double as_printed(double value, int64_t digits);

// Statistics summed over sentences, and the scores that follow from them.
class Scores {
 public:
  explicit Scores(const ScoreOptions& options) : options_(options) {}

  void add(std::string_view hypothesis, std::string_view reference);

  // One line each for BLEU and chrF, or an array of objects, as sacreBLEU prints them; and TER and the exact match if
  // they are asked for.
  std::string text() const;
  nlohmann::ordered_json json() const;
  std::string print() const;  // in the format of the options

 private:
  ScoreOptions options_;
  BleuStatistics bleu_;
  ChrfStatistics chrf_;
  TerStatistics ter_;
  ExactMatches matches_;
};

}  // namespace dragoman::internal
