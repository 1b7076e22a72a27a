// The texts inside ICU's messages: {count, plural, one {# file} other {# files}}.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct IcuText {
  TextSpan place = {};     // in bytes of the message
  bool in_plural = false;  // where # is the number
};

// Whether a message has a plural or a selection, complete or not.
bool has_icu_choices(std::string_view message);

// The bytes of the argument at the beginning of a text, such as {name} or {name, number}; 0: there is none, or one with
// texts.
size_t icu_argument_at(std::string_view text);

// Nothing if the message is invalid.
std::optional<std::vector<IcuText>> icu_texts(std::string_view message);

}  // namespace dragoman::internal
