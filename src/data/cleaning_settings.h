// What cleaning (data/cleaning.h) is told: rules, languages, and what scores pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/cleaning_rules.h"
#include "data/corpus.h"
#include "text/language_identifier.h"

namespace dragoman::internal {

// The mean log-probability of a token of each pair; NaN where a pair is too long for the model: it is kept.
using PairScorer = std::function<std::vector<double>(std::span<const TextPair> pairs)>;

struct CleaningSettings {
  CleaningRules rules = {};
  std::string from = {}, to = {};                  // languages; empty: not known, and not checked
  const LanguageIdentifier* identifier = nullptr;  // null: languages are not checked
  PairScorer scorer = {};                          // for min_score
  int threads = 1;
  int64_t examples = 0;  // to keep of each fault
};

// A pair that was left out.
struct FaultyPair {
  uint64_t index;
  std::string source, target;  // empty where it was invalid
};

}  // namespace dragoman::internal
