// Splits text into sentences.
#pragma once

#include <string_view>
#include <vector>

namespace dragoman::internal {

// A sentence and the white space after it. Concatenated, the parts are the text.
struct SentencePart {
  std::string_view sentence, space;
};

// The sentences of a text by Unicode's rules (UAX 29). Drops leading white space.
std::vector<SentencePart> split_sentences(std::string_view text);

}  // namespace dragoman::internal
