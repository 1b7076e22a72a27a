// The first pass over a corpus: counts the pairs of each source, which decides the held-out pairs and the sample from
// which vocabularies are learned.
#pragma once

#include <cstdint>
#include <vector>

#include "data/corpus.h"
#include "data/preparation.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct Survey {
  std::vector<uint64_t> source_begins;  // the index of each source's first pair, then the number of pairs
  std::vector<uint64_t> held_out;       // sorted indices of the pairs for validation

  uint64_t pairs() const { return source_begins.back(); }
  bool is_held_out(uint64_t pair) const;
};

// Reads the whole corpus. Holds out the data.hold_out pairs whose indices have the smallest hashes, which is
// deterministic.
Survey survey_corpus(const DataConfig& data, Preparation& work);

// Learns the vocabularies from a sample of `learn_from` sentences without the held-out ones, or reads those of `from`.
// Both sides at the same time if there are threads.
Vocabularies make_vocabularies(const DataConfig& data, const VocabularyConfig& vocabulary,
                               const Survey& survey, int threads, Preparation& work);

}  // namespace dragoman::internal
