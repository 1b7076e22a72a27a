// Whether a translation is in another language than it should be: asked for French, a model may answer in English.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

// The language that a text is in, such as "en", where its most frequent words leave no doubt that it is not `language`;
// else nothing, as of a text with fewer than five different words. Languages with rules for sentences are told apart
// (text/sentence_rules.h); in all others English alone is found.
std::string other_language(std::string_view text, const std::string& language);

// "English" for "en".
std::string english_name_of(const std::string& language);

}  // namespace dragoman::internal
