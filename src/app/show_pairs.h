// Pairs of a corpus as a reader can look at them: as pieces, and as the decoder sees them.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "data/batch.h"
#include "text/vocabulary.h"

namespace dragoman {

// One pair of a batch. The decoder's input and what it is to say stand above each other, a column a step, in lines
// of so many columns of a terminal.
void show_pair(const Batch& batch, size_t number, const Vocabularies& vocabularies, int64_t width,
               std::ostream& out);

}  // namespace dragoman
