// Reads TBX: versions 2 (martif; TBX-Basic and its relatives, 2008) and 3 (tbx; DCA and DCT).
#pragma once

#include <string>
#include <vector>

#include "document/glossary.h"

namespace dragoman::internal {

// External files and entities are not read. Memory is bounded by that of the entries.
std::vector<GlossaryEntry> read_tbx(const std::string& path, const GlossaryLanguages& languages);

// Whether a language of a file, "en-GB", is the wanted one, "en", which may also be given as "eng_Latn".
bool is_language(const std::string& of_file, const std::string& wanted);

}  // namespace dragoman::internal
