// Numbers that a translation has changed. A model may write them in words ("2" as "deux") and with other separators
// ("1,000.5" as "1 000,5"), but 37 must not become 36.
#pragma once

#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

// The numbers of the source that are not in the translation, in bytes. A single digit counts only if the translation
// has a number that is not in the source: otherwise it may have become a word. "3 pm" may become "15 h", and the
// reverse.
std::vector<TextSpan> changed_numbers(std::string_view source, std::string_view translation);

}  // namespace dragoman::internal
