// Translations of a few words that probably have nothing to do with them: of a letter, a number or a name that the
// model never saw, it makes up a sentence. How sure it is of that tells.
#pragma once

#include <string_view>

namespace dragoman::internal {

// At most three. Longer texts are never judged: a bad translation of a sentence still has something of it.
bool has_few_words(std::string_view source);

// `confidence`: the geometric mean of the probabilities of the translation's tokens.
bool is_unlikely(std::string_view source, std::string_view translation, double confidence);

}  // namespace dragoman::internal
