// Prints pairs of a corpus as subwords, as the model sees them.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "data/batch.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// One pair of a batch: the decoder's input above its targets, one column per step, in lines of `width` columns.
void show_pair(const Batch& batch, size_t number, const Vocabularies& vocabularies, int64_t width,
               std::ostream& out);

}  // namespace dragoman::internal
