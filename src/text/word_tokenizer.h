// The words and punctuation marks of a text, and text from them again: what vocabulary.tokenizer = "simple" does. The
// rules are in docs/data.md.
//
// Words are plain, as in other systems' vocabularies: none records whether it had a space before it. So spacing is put
// back by rules, and is the original's where that follows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

// In bytes. They do not depend on what lies beyond the white space around them.
std::vector<TextSpan> tokenize_words(std::string_view utf8);

// Decides on the spaces between the words of one text, given in order.
class WordSpacing {
 public:
  bool space_before(std::string_view word);

 private:
  // Quotation marks are told apart by the ones that are open.
  enum class Quote { none, opens, closes };
  Quote quote(char32_t c);

  bool attaches_next_ = true;  // at the beginning, too
  bool attaches_number_ = false;
  std::vector<char32_t> open_quotes_;
};

}  // namespace dragoman::internal
