// BLEU's tokenizers, as in sacreBLEU.
#pragma once

#include <string>

namespace dragoman::internal {

// thirteen_a ("13a"): that of mteval-v13a, which WMT reports. international ("intl"): that of mteval-v14, by Unicode
// categories. characters ("char"): each character is a token. none: splits at white space only.
enum class Tokenizer { thirteen_a, international, characters, none };

std::string name_of(Tokenizer tokenizer);

// The text with its tokens separated by white space.
std::u32string tokenize(Tokenizer tokenizer, std::u32string text);

}  // namespace dragoman::internal
