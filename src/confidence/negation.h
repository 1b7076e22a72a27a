// Words for "not", by which a translation that has lost or won one shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// In lower case. A word that ends with - or begins with it stands for all that begin or end so.
struct NegationWords {
  std::vector<std::u32string> certain;   // "not": the other language says so, too
  std::vector<std::u32string> possible;  // "without", "impossible", "only": what a "not" may become
};

// Of a language such as "en" or "eng_Latn"; null: it is not known.
const NegationWords* negation_words(const std::string& language);

struct FoundNegation {
  std::string certain;    // the first such word; empty: there is none
  bool possible = false;  // there is a word of either kind
};
FoundNegation find_negation(std::string_view text, const NegationWords& words);

}  // namespace dragoman::internal
