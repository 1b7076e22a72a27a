// How BLEU cuts text into words: sacreBLEU's tokenizers of these names.
#pragma once

#include <string>

namespace dragoman {

// thirteen_a ("13a"): mteval-v13a's, what WMT reports. international ("intl"): mteval-v14's, by Unicode's categories.
// characters ("char"): each by itself. none: the text's own white space.
enum class Tokenizer { thirteen_a, international, characters, none };

std::string name_of(Tokenizer tokenizer);

// The text with white space between its tokens.
std::u32string tokenize(Tokenizer tokenizer, std::u32string text);

}  // namespace dragoman
