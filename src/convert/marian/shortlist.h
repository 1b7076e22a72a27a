// The binary shortlists of Bergamot's and Firefox's models, lex.50.50.enfr.s2t.bin.
#pragma once

#include <cstdint>
#include <string>

#include "data/lexicon.h"

namespace dragoman::internal {

// With a shared vocabulary each source token is itself among its translations, as in Bergamot.
Lexicon read_marian_shortlist(const std::string& path, int64_t source_vocabulary, int64_t target_vocabulary,
                              bool shared);

}  // namespace dragoman::internal
