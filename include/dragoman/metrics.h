// BLEU, chrF and TER of a corpus, sacreBLEU's figures to the last digit with its signatures; and whether the difference
// between two systems means something.
//
//   std::cout << dragoman::bleu(hypotheses, references).score;
//   dragoman::compare_systems(ours, theirs, references).p_value < 0.05
//
// A function takes one reference of each hypothesis, in the same order, or several: references[k][i] is the k-th
// reference of hypothesis i. All throw an Error where there are not as many references as hypotheses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"

namespace dragoman {

struct MetricSettings {
  std::string tokenizer = "13a";     // of BLEU: one of bleu_tokenizers()
  std::string tokenizer_model = {};  // the SentencePiece model of flores101, flores200 or spBLEU-1K: a file
  bool lowercase = false;            // in BLEU and chrF
  int word_order = 0;                // of chrF; 2: chrF++
  bool ter_normalized = false;       // separate punctuation first
  bool ter_no_punctuation = false;   // leave it out
  bool ter_asian_support = false;    // the same for what is Chinese and Japanese
  bool ter_case_sensitive = false;
};

struct CorpusScore {
  double score = 0;  // 0 to 100; TER, where lower is better, may be more
  std::string name;  // "BLEU", "chrF2", "TER"
  std::string signature;
  std::string details;  // of BLEU: precisions, brevity penalty, lengths
};

using References = std::span<const std::string>;
using SeveralReferences = std::span<const std::vector<std::string>>;

DRAGOMAN_API CorpusScore bleu(std::span<const std::string> hypotheses, References references,
                              const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore bleu(std::span<const std::string> hypotheses, SeveralReferences references,
                              const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore chrf(std::span<const std::string> hypotheses, References references,
                              const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore chrf(std::span<const std::string> hypotheses, SeveralReferences references,
                              const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore ter(std::span<const std::string> hypotheses, References references,
                             const MetricSettings& settings = {});
DRAGOMAN_API CorpusScore ter(std::span<const std::string> hypotheses, SeveralReferences references,
                             const MetricSettings& settings = {});
DRAGOMAN_API std::vector<std::string> bleu_tokenizers();

struct PairedSettings {
  std::string metric = "bleu";  // bleu, chrf, ter or exact_match
  std::string test = "bs";      // bs: paired bootstrap resampling; ar: approximate randomization
  int64_t samples = 0;          // 0: 1,000 of bs, 10,000 of ar
  uint64_t seed = 12345;
};

struct SystemScore {
  double score = 0;
  double mean = 0, half_width = 0;  // of the interval that holds 95 % of the scores of resampled test sets
};

struct PairedComparison {
  SystemScore baseline, system;
  double p_value = 1;  // how likely a difference as large is between equally good systems
};

DRAGOMAN_API PairedComparison compare_systems(std::span<const std::string> baseline,
                                              std::span<const std::string> system, References references,
                                              const PairedSettings& paired = {},
                                              const MetricSettings& settings = {});
DRAGOMAN_API PairedComparison compare_systems(std::span<const std::string> baseline,
                                              std::span<const std::string> system,
                                              SeveralReferences references, const PairedSettings& paired = {},
                                              const MetricSettings& settings = {});

}  // namespace dragoman
