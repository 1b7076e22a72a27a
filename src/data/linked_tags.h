// Tags among words that translate each other, as the links of a pair say: "<b>red</b> wine", "du vin <b>rouge</b>".
//
// Pairs get them when they are loaded, so that each epoch has others. Without links tags can only be around what all
// languages write alike: see add_tags() in text/tags.h, which is for corpora that are prepared without them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/align/symmetrize.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// A pair as pieces, and the links between these.
struct LinkedPair {
  std::vector<int32_t> source, target;
  std::vector<Link> links;

  bool operator==(const LinkedPair&) const = default;
};

// Adds a tag to both sides: around everything, alone before or behind it, or around up to three words and their
// translation. Links move with their characters, and tags are linked to each other. A pair stays as it is where it has
// markup already, where the vocabularies do not know the tag, and where a side would be longer than `max_length`.
void add_linked_tags(const Vocabularies& vocabularies, int64_t max_length, Random& random, LinkedPair& pair);

}  // namespace dragoman::internal
