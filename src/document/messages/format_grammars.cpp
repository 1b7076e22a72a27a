// The table of format strings' languages.
#include <algorithm>
#include <array>

#include "document/messages/format_strings.h"

namespace dragoman::internal {
namespace {

using FormatStyle = FormatGrammar::Style;

constexpr std::string_view c_flags = "-+ #0'I", c_lengths = "hlLqjzt",
                           c_conversions = "diouxXcsCSaAeEfFgGpnm";

constexpr auto format_grammars = std::to_array<FormatGrammar>({
    {.flag = "c",
     .flags = c_flags,
     .lengths = c_lengths,
     .conversions = c_conversions,
     .silent = "m",
     .may_number = true},
    {.flag = "objc",
     .flags = c_flags,
     .lengths = c_lengths,
     .conversions = "diouxXcsCSaAeEfFgGpnmD@",
     .silent = "m",
     .may_number = true},
    {.flag = "python", .flags = "-+ #0", .lengths = "hlL", .conversions = "diouxXeEfFgGcrsa", .names = "()"},
    {.flag = "java-printf",
     .flags = "-#+ 0,(<",
     .conversions = "bBhHsScCdoxXeEfgGaAn",
     .silent = "n",
     .may_number = true},
    {.flag = "javascript", .flags = "-+ #0", .conversions = "csbdioxXuefgGEj", .may_number = true},
    {.flag = "php", .flags = "-+ 0'", .lengths = "l", .conversions = "bcdeEfFgGhHosuxX", .may_number = true},
    {.flag = "perl",
     .flags = "-+ #0v",
     .lengths = "hlqLVztj",
     .conversions = "csduoxXeEfgGBbpnivDUOF",
     .may_number = true},
    {.flag = "ruby",
     .flags = "-+ #0",
     .conversions = "diuoxXbBeEfgGaAcps",
     .names = "<>",
     .may_number = true},
    {.flag = "awk", .flags = "-+ #0'", .lengths = "hlL", .conversions = "diouxXcseEfFgG", .may_number = true},
    {.flag = "lua", .flags = "-+ #0", .conversions = "diouxXcsqeEfgGaAp"},
    {.flag = "tcl", .flags = "-+ #0", .lengths = "hl", .conversions = "diuoxXcseEfgGb", .may_number = true},
    {.flag = "elisp", .flags = "-+ #0", .conversions = "dioxXeEfFgGcsS", .may_number = true},
    {.flag = "librep", .flags = "-^0+ ", .conversions = "doxXcsS", .may_number = true},
    {.flag = "modula2", .flags = c_flags, .conversions = "diuxcs"},
    {.flag = "d", .flags = "-+ #0", .conversions = "sbdoxXeEfFgGaA", .may_number = true},
    {.flag = "ocaml", .flags = "-+ #0", .lengths = "hlnL", .conversions = "diuxXoscCSfFeEgGhHbBat"},
    {.flag = "apple",
     .style = FormatStyle::loose,
     .flags = "-+#0'",
     .lengths = c_lengths,
     .conversions = "diouxXcsCSaAeEfFgGpnD@",
     .may_number = true},
    {.flag = "android",
     .style = FormatStyle::loose,
     .flags = "-#+0,(<",
     .conversions = "bBhHsScCdoxXeEfgGaAn",
     .silent = "n",
     .may_number = true},
    {.flag = "qt", .style = FormatStyle::number, .lengths = "L"},
    {.flag = "qt-plural", .style = FormatStyle::number, .lengths = "L", .conversions = "n"},
    {.flag = "kde", .style = FormatStyle::number},
    {.flag = "kde-kuit", .style = FormatStyle::number},
    {.flag = "python-brace", .style = FormatStyle::braces},
    {.flag = "csharp", .style = FormatStyle::braces},
    {.flag = "rust", .style = FormatStyle::braces},
    {.flag = "c++", .style = FormatStyle::braces},
    {.flag = "java", .style = FormatStyle::message},
    {.flag = "perl-brace", .style = FormatStyle::names_in_braces},
    {.flag = "sh", .style = FormatStyle::shell},
    {.flag = "lisp", .style = FormatStyle::tilde},
    {.flag = "scheme", .style = FormatStyle::tilde},
});

}  // namespace

const FormatGrammar* format_grammar(std::string_view flag) {
  constexpr std::string_view suffix = "-format";
  if (!flag.ends_with(suffix)) return nullptr;
  flag.remove_suffix(suffix.size());
  const auto* const found = std::ranges::find(format_grammars, flag, &FormatGrammar::flag);
  return found != format_grammars.end() ? &*found : nullptr;
}

}  // namespace dragoman::internal
