// The plural forms of a language, as a catalogue's header describes them: nplurals=2; plural=(n != 1);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// The value of an expression in C's syntax with the variable n. Nothing if it is not valid.
std::optional<uint64_t> plural_value(std::string_view expression, uint64_t n);

struct PluralForms {
  size_t count = 0;              // 0: unknown
  size_t of_one = 0;             // the form for one thing
  std::vector<bool> often = {};  // of each form, whether it is that of several numbers
};

PluralForms plural_forms(std::string_view header);

// The text after a key in a header, whose line breaks are written as \n.
std::string_view value_in_header(std::string_view header, std::string_view key, std::string_view enders);

}  // namespace dragoman::internal
