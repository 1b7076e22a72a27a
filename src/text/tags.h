// Tags in training text, such as <b>...</b>: the same one in a sentence and in its translations.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "text/spans.h"

namespace dragoman::internal {

// Whether a word is text: neither markup nor a placeholder nor an address ("<b>", "{name}", "%s", "me@x.org").
bool is_plain_word(std::string_view word);

// A word without the marks around it.
std::string_view bare_word(std::string_view word);

bool has_markup(std::string_view text);

// What stands before and behind a part of a text.
struct Tag {
  std::string_view open, close;
};

// A tag that belongs around some words; else around everything, or alone before or behind it.
struct DrawnTag {
  Tag tag;
  bool around_words = false;
};
DrawnTag draw_tag(Random& random);

// The part in bytes.
std::string with_tag(std::string text, TextSpan part, const Tag& tag);

// Adds a drawn tag where it is sure to belong without knowing the languages: if around words, around a name or number
// that all texts have once, else around everything. Where one of them has markup already, all stay as they are.
void add_tags(std::string& source, std::span<std::string> targets, Random& random);

}  // namespace dragoman::internal
