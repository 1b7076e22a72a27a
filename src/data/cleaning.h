// Cleaning of parallel text: leaves out the pairs that are no translations of each other, and counts why.
//
//   CorpusReader pairs(corpus_sources(data), data.swap, data.limit);
//   const auto write = [&](const CleanPair& pair) { ... };
//   const CleaningResult result = clean(pairs, {.rules = rules, .from = "en", .to = "fr"}, write, work);
//
// Pairs are judged by several threads, a block at a time, and handed on in their order. The same pairs are kept
// whatever the number of threads. Memory does not grow with the corpus, apart from about 20 bytes for each pair or side
// that is remembered to find duplicates.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "data/clean/seen_texts.h"  // for text of one side, too
#include "data/cleaning_settings.h"
#include "data/corpus.h"
#include "data/preparation.h"

namespace dragoman::internal {

struct CleanPair {
  uint64_t index;  // in the corpus
  std::string_view source, target;
};

// read == kept() + dropped()
struct CleaningResult {
  int64_t read = 0;
  FaultCounts counts = {};
  std::array<std::vector<FaultyPair>, fault_count> examples;  // from the whole corpus, in its order

  int64_t of(Fault fault) const { return counts[static_cast<size_t>(fault)]; }
  int64_t kept() const { return of(Fault::none); }
  int64_t dropped() const { return read - kept(); }
};
nlohmann::ordered_json to_json(const CleaningResult& result);

// Throws an Error where a language has no rules: the identifier does not know it.
CleaningResult clean(CorpusReader& pairs, const CleaningSettings& settings,
                     const std::function<void(const CleanPair&)>& keep, Preparation& work);

}  // namespace dragoman::internal
