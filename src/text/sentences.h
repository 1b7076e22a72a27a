// Where a text can be parted.
#pragma once

#include <string_view>
#include <vector>

namespace dragoman {

// A sentence with the white space that follows it: together they are the text.
struct SentencePart {
  std::string_view sentence, space;
};

// The sentences of a text, as Unicode has them (UAX 29). White space at its very beginning is dropped.
std::vector<SentencePart> split_sentences(std::string_view text);

}  // namespace dragoman
