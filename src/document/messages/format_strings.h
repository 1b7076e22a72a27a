// Format strings: the directives that programs replace (%s, %(name)d, {0:>8}), in each language that gettext knows.
//
//   const FormatGrammar* grammar = format_grammar("python-format");
//   if (const auto places = directives(*grammar, "%d files")) ...   // valid, with a directive at 0 to 2
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

struct FormatGrammar {
  enum class Style {
    percent,  // %5.2f
    loose,    // the same in texts of which only some are format strings: other per cent signs are text
    number,   // Qt's %1
    braces,   // {name:>8}, with {{ for {
    message,  // Java's {0,number}, with '{' for {
    names_in_braces,  // {name}, where other braces are text
    shell,            // $name, ${name}
    tilde,            // ~a
  };
  std::string_view flag;  // without "-format"
  Style style = Style::percent;
  // Of percent: what may be between % and the last character, and which that is.
  std::string_view flags = {}, lengths = {}, conversions = {};
  std::string_view silent = {};  // conversions without an argument
  std::string_view names = {};   // brackets around names: "()" in %(name)s
  bool may_number = false;       // %2$s
};

// By gettext's flag, such as "c-format". Null if it names no language, or one that is not known here.
const FormatGrammar* format_grammar(std::string_view flag);

// The beginning of a text: characters as they are, a character that is written in another way (%%), or a directive.
struct FormatPart {
  enum class Kind { text, character, directive, invalid };
  Kind kind = Kind::text;
  size_t size = 1;
  char character = 0;
  TextSpan shown = {};  // of a directive that has text: that part of it
};
FormatPart format_part(const FormatGrammar& grammar, std::string_view text);

// Characters at which parts other than text begin.
std::string_view format_signs(const FormatGrammar& grammar);

// In bytes. Nothing if the text is not a valid format string.
std::optional<std::vector<TextSpan>> directives(const FormatGrammar& grammar, std::string_view text);

// Text that contains no directive, as a format string has it.
std::string escape_format(const FormatGrammar& grammar, std::string_view text);

// Whether a program that passes the arguments of `all` can format `some`, which may leave the last ones out.
bool takes_arguments_of(const FormatGrammar& grammar, std::string_view some, std::string_view all);

// A translation that takes the same arguments as the message. Those that are in another order are numbered, where the
// language allows it. Nothing if there is no such translation.
std::optional<std::string> with_arguments_in_order(const FormatGrammar& grammar, std::string_view message,
                                                   std::string_view translation);

}  // namespace dragoman::internal
