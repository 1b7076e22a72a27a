// Placeholders in translations: each comes out as often as in the source, even if a model lost or doubled one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "document/placement/word_links.h"

namespace dragoman::internal {

struct TranslatedText {
  std::string text;
  std::vector<TextLink> links = {};
};

// The number of placeholders that had to be restored or removed. A lost one replaces the words that came from
// it, or is put next to its neighbours.
size_t repair_placeholders(std::string_view source, TranslatedText& translation);

}  // namespace dragoman::internal
