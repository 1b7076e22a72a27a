// BLEU and chrF of a corpus: sacreBLEU's figures to the last digit, with its signatures.
#pragma once

#include <span>
#include <string>

#include "dragoman/error.h"
#include "dragoman/export.h"

namespace dragoman {

struct MetricSettings {
  std::string tokenizer = "13a";  // of BLEU: 13a, intl, char, none
  bool lowercase = false;
  int word_order = 0;  // of chrF; 2: chrF++
};

struct CorpusScore {
  double score = 0;  // 0 to 100
  std::string name;  // "BLEU", "chrF2"
  std::string signature;
  std::string details;  // of BLEU: precisions, brevity penalty, lengths
};

// One reference per hypothesis, in the same order.
DRAGOMAN_API CorpusScore bleu(std::span<const std::string> hypotheses,
                              std::span<const std::string> references, const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore chrf(std::span<const std::string> hypotheses,
                              std::span<const std::string> references, const MetricSettings& settings = {});

}  // namespace dragoman
