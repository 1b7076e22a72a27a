// What is known of a corpus once it has been read through: how many pairs its sources have, and with that, which of
// them are held out and which of them the vocabularies are learnt from.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status_line.h"
#include "data/corpus.h"
#include "text/vocabulary.h"

namespace dragoman {

struct Survey {
  std::vector<uint64_t> source_begins;  // the index of each source's first pair; then the number of all
  std::vector<uint64_t> held_out;       // indices of the pairs for validation, rising

  uint64_t pairs() const { return source_begins.back(); }
  bool is_held_out(uint64_t pair) const;
};

// Reads all of it. Held out are the data.hold_out pairs whose index has the smallest hash: always the same ones.
Survey survey_corpus(const DataConfig& data, StatusLine& status);

// Learns the vocabularies from `learn_from` sentences drawn evenly, none of which is held out; or reads those of
// `from`. Both sides at once where there are threads for it.
Vocabularies make_vocabularies(const DataConfig& data, const VocabularyConfig& vocabulary,
                               const Survey& survey, int threads, StatusLine& status);

}  // namespace dragoman
