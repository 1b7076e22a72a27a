// Corpus BLEU (Papineni et al., 2002), equal to sacreBLEU's to the last printed digit.
//
//   BleuStatistics sums;
//   for (each sentence) sums += bleu_statistics(hypothesis, reference);
//   bleu_score(sums).score            // 0 to 100
//   bleu_signature({})                // "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.x"
//
// The score is computed from sums over sentences, so that any subset can be scored from its statistics. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "metrics/tokenizer.h"

namespace dragoman::internal {

// The version of sacreBLEU whose definitions BLEU, chrF and TER follow, for the signatures.
inline constexpr std::string_view sacrebleu_version = "2.x";

struct BleuOptions {
  Tokenizer tokenizer = Tokenizer::thirteen_a;
  bool lowercase = false;
  std::shared_ptr<const SentencePieceSplitter> subwords = {};  // for the tokenizers that need a model
};

struct BleuStatistics {
  int64_t hypothesis_length = 0, reference_length = 0;  // tokens
  std::array<int64_t, 4> matches = {}, ngrams = {};     // of one to four tokens; ngrams: of the hypothesis

  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;
  std::array<double, 4> precisions = {};  // percent
  double brevity_penalty = 1;
  double ratio = 0;  // of the lengths
  int64_t hypothesis_length = 0, reference_length = 0;

  // "44.4/25.0/14.3/8.3 (BP = 0.894 ratio = 0.900 hyp_len = 9 ref_len = 10)"
  std::string details() const;
};

BleuStatistics bleu_statistics(std::string_view hypothesis, std::string_view reference,
                               const BleuOptions& options = {});
// With several references, at least one: an n-gram matches as often as the reference that has it most often allows, and
// the length is that of the reference whose length is nearest, of two equally near the shorter.
BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const BleuOptions& options = {});
BleuScore bleu_score(const BleuStatistics& sums);
std::string bleu_signature(const BleuOptions& options, size_t references = 1);

}  // namespace dragoman::internal
