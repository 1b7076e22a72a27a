// Reads TBX: versions 2 (martif; TBX-Basic and its relatives, 2008) and 3 (tbx; DCA and DCT).
#pragma once

#include <string>
#include <vector>

#include "document/glossary_entry.h"

namespace dragoman::internal {

// Neither what a file refers to is read nor are its own entities. Memory is bounded by that of the entries.
std::vector<GlossaryEntry> read_tbx(const std::string& path, const GlossaryLanguages& languages);

// Whether a language of a file, "en-GB", is the one that is wanted, "en". Three letters name it, too: "eng_Latn".
bool is_language(const std::string& of_file, const std::string& wanted);

}  // namespace dragoman::internal
