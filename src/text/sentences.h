// Splits text into sentences.
#pragma once

#include <string_view>
#include <vector>

namespace dragoman::internal {

// A sentence and the white space after it. Concatenated, the parts are the text.
struct SentencePart {
  std::string_view sentence, space;
};

// The sentences of a text by Unicode's rules (UAX 29), except at full stops that do not end one in this language, such
// as those of abbreviations (sentence_rules.h); empty: an unknown language. Drops leading white space.
std::vector<SentencePart> split_sentences(std::string_view text, std::string_view language = "");

// Whether its last character, but for closing quotes and brackets, ends sentences, as a full stop does.
bool ends_sentence(std::string_view text);

}  // namespace dragoman::internal
