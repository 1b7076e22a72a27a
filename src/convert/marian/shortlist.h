// The binary shortlists of Bergamot's and Firefox's models, lex.50.50.enfr.s2t.bin.
#pragma once

#include <cstdint>
#include <string>

#include "data/lexicon.h"
#include "search/shortlist.h"

namespace dragoman::internal {

// With a shared vocabulary each source token is itself among its translations, as in Bergamot.
Lexicon read_marian_shortlist(const std::string& path, int64_t source_vocabulary, int64_t target_vocabulary,
                              bool shared);

// With the same words for each sentence. Those that every translation may have are the list of the end mark, with which
// every source ends. `lists`: as many as the source's embedding has rows, which may be more than its vocabulary.
void write_marian_shortlist(const std::string& path, const Shortlist& shortlist, const Vocabulary& source,
                            int64_t lists);

}  // namespace dragoman::internal
