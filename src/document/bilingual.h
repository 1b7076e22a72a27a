// Texts with their translations, from the files in which translators keep them: TMX 1.1 to 1.4, XLIFF 1.2 and 2, PO.
// To translate such a file, see document.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "document/document.h"

namespace dragoman::internal {

// Without markup: the codes inside a text, which stand for another format's tags, are left out.
struct BilingualText {
  std::string source, target;
  int64_t changed = 0;  // seconds since 1970; 0: the file does not say
};

// By the file's name, which may have .gz or .zst behind it.
bool is_bilingual_file(const std::string& path);

// Gives all that is translated, in the file's order: neither empty texts, nor those that are marked as fuzzy or as
// still to be translated or reviewed. Memory does not grow with the file, unless it is PO. Throws an Error that begins
// with the file's name; a TMX file needs the languages.
void read_bilingual(const std::string& path, const DocumentSettings& settings,
                    const std::function<void(BilingualText text)>& take);

}  // namespace dragoman::internal
