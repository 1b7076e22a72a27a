// Character references of HTML, and text as HTML has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/spans.h"

namespace dragoman::internal {

class HtmlReferences {
 public:
  // What the reference at the beginning of the text stands for, and its size in bytes. None: & is a character.
  struct Reference {
    size_t size = 0;
    std::string decoded;
  };
  std::optional<Reference> at_beginning_of(std::string_view text);

 private:
  std::unordered_map<std::string, std::string> decoded_;  // of the references so far
};

// White space other than one space in a line of preformatted text. Empty, at the end, if there is none.
TextSpan first_gap(std::string_view line);

// Whether a line of preformatted text is of a program, by its punctuation.
bool looks_like_code(std::string_view line);

// The value of an attribute. None if it has quotes of both kinds, as only in templates.
std::optional<std::string> decode_html_attribute(std::string_view value);

// Escapes values between such quotes; 0: the value has none so far, and gets them.
std::string (*html_attribute_escape(char quote))(std::string_view value);

}  // namespace dragoman::internal
