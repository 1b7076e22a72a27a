// Checks of a translation that need no model: what is missing from it, or is too much, that a reader of the translation
// alone would not notice.
//
// A finding is no proof. Of the French references of 2,000 everyday sentences 3 % have one ("without a roof" for
// "homeless", "Allemagne" for "Germany"), so that findings tell a reviewer where to look, and nothing is changed by
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

enum class Check {
  numbers,       // that one side alone has
  placeholders,  // "%s", "{name}", addresses: each once per occurrence
  names,         // Tom has become Tim; GStreamer is gone
  negation,      // one side says "not", and the other does not
  repetition,    // a phrase three times in a row, or more, that the source does not repeat
  untranslated,  // most words are the source's
  wrong_language
};

// As JSON has it: "numbers".
const char* name_of(Check check);

struct Finding {
  Check check;
  bool extra = false;  // in the translation and not in the source; else the reverse
  std::string text;    // what: "37"; the language that it is in: "en"

  bool operator==(const Finding&) const = default;
};

// What a person reads: "37 is missing".
std::string description_of(const Finding& finding);

// `from`, `to`: languages such as "en", whose words for "not" and most frequent words are known for some; may be empty.
std::vector<Finding> check_translation(std::string_view source, std::string_view translation,
                                       const std::string& from = "", const std::string& to = "");

}  // namespace dragoman::internal
