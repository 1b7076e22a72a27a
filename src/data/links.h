// The links of a prepared corpus: which target pieces translate which source pieces, for guided alignment.
//
// They are learned from the pieces of its pairs, or of an even sample of many (data/align/aligner.h), and stand beside
// shard-000 in links-000: a shard itself, with a record for each pair of the other. Its sides are the links' places in
// the source and in the target, by target and then by source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/align/symmetrize.h"
#include "data/preparation.h"
#include "data/shards.h"
#include "text/spans.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct LinkSettings {
  uint64_t fingerprint = 0;  // of the shards
  int64_t max_length = 100;  // of a side, in pieces
  int threads = 1;
};

// Learns from the shards of this folder, so many, and writes links-000, ... for them. Returns the number of links. The
// bytes do not depend on the number of threads.
int64_t write_links(int64_t shard_count, const VocabularySizes& sizes, const std::string& folder,
                    const LinkSettings& settings, Preparation& work);

// Throws an Error where one of them does not belong to its shard.
std::vector<Shard> open_links(const std::vector<Shard>& shards, const std::string& folder,
                              const LinkSettings& settings);

// Where each piece is in the text that all of them spell.
std::vector<TextSpan> spans_of_pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids);

// The links of a pair after a side has been cut into other pieces: pieces are linked where some characters of the one
// were linked to some of the other. `before` and `after`: where the pieces are in one text. Replaces `links`.
void move_links(std::span<const TextSpan> before, std::span<const TextSpan> after, int32_t Link::*side,
                std::vector<Link>& links);

}  // namespace dragoman::internal
