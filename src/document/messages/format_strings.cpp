#include "document/messages/format_strings.h"

#include <algorithm>

#include "base/ascii.h"
#include "document/segments/inline_text.h"

namespace dragoman::internal {
namespace {

using FormatStyle = FormatGrammar::Style;
using PartKind = FormatPart::Kind;

bool is_in(char c, std::string_view set) { return set.find(c) != set.npos; }
bool is_word_character(char c) { return is_alphanumeric(c) || c == '_'; }

size_t digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

size_t name_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return end > at && !is_digit(text[at]) ? end - at : 0;
}

FormatPart directive(size_t size) { return {.kind = PartKind::directive, .size = size}; }
FormatPart character(size_t size, char c) {
  return {.kind = PartKind::character, .size = size, .character = c};
}

// Past a bracket's partner, with others inside; npos: there is none.
size_t past_brackets(std::string_view text, size_t at, char open, char close) {
  for (size_t depth = 0; at < text.size(); ++at) {
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at + 1;
  }
  return text.npos;
}

// %, name or number, flags, width, precision, length, conversion.
FormatPart percent_part(const FormatGrammar& grammar, std::string_view text) {
  if (text.starts_with("%%")) return character(2, '%');
  size_t at = 1;
  const auto skip = [&](std::string_view set) {
    while (at < text.size() && is_in(text[at], set)) at += grammar.flag == "php" && text[at] == '\'' ? 2 : 1;
    at = std::min(at, text.size());
  };
  if (grammar.flag == "ruby") skip(grammar.flags);
  if (!grammar.names.empty() && at < text.size() && text[at] == grammar.names[0]) {
    at = past_brackets(text, at, grammar.names[0], grammar.names[1]);
    if (at == text.npos) return {.kind = PartKind::invalid};
  } else if (grammar.flag == "ruby" && text.substr(at).starts_with('{')) {
    at = text.find('}');
    return at != text.npos ? directive(at + 1) : FormatPart{.kind = PartKind::invalid};
  }
  const bool macro = grammar.silent == "m" && text.substr(at).starts_with("<PRI");  // %<PRIu64>
  if (macro && text.find('>') != text.npos) return directive(text.find('>') + 1);
  if (const size_t digits = digits_at(text, at); digits > 0 && text.substr(at + digits).starts_with('$'))
    at += digits + 1;
  skip(grammar.flags);
  skip("0123456789*$.");
  skip(grammar.lengths);
  const bool time = (grammar.flag == "java-printf" || grammar.flag == "android") && at + 1 < text.size() &&
                    is_in(text[at], "tT");  // %tY
  if (time) ++at;
  if (at < text.size() &&
      (time ? is_letter(text[at]) : text[at] == '%' || is_in(text[at], grammar.conversions)))
    return directive(at + 1);  // "%5%" shows a per cent sign
  return {.kind = PartKind::invalid};
}

// <xliff:g>text that stays</xliff:g>, and entities that the file declares.
FormatPart resource_part(std::string_view text) {
  constexpr std::string_view begin = "<xliff:g", end = "</xliff:g>";
  constexpr size_t longest = 4096;  // bytes
  if (text.starts_with(begin)) {
    text = text.substr(0, longest);
    const size_t opened = text.find('>'), closed = text.find(end);
    if (closed == text.npos || opened > closed) return {};
    FormatPart part = directive(closed + end.size());
    part.shown = {opened + 1, closed};
    return part;
  }
  if (text[0] != '&' || entity_at(text).size > 0) return {};
  size_t after = 1 + name_at(text, 1);
  while (after > 1 && after < text.size() && (is_word_character(text[after]) || is_in(text[after], "-.")))
    ++after;
  return after > 1 && text.substr(after).starts_with(';') ? directive(after + 1) : FormatPart{};
}

FormatPart loose_part(const FormatGrammar& grammar, std::string_view text) {
  if (text.starts_with("%%")) return directive(2);
  if (text[0] != '%') return resource_part(text);
  if (grammar.flag == "apple" && name_at(text, 1) == 3 && text.substr(1).starts_with("arg"))
    return directive(4);  // the number of a plural in a String Catalog
  const FormatPart part = percent_part(grammar, text);
  if (part.kind != PartKind::directive || text[part.size - 1] == '%') return {};
  const std::string_view found = text.substr(0, part.size);
  if (grammar.flag == "apple" && found.ends_with('@') && is_in('#', found)) {
    const size_t name = name_at(text, part.size);  // %#@files@ is replaced by what the rule "files" gives
    if (name > 0 && text.substr(part.size + name).starts_with('@')) return directive(part.size + name + 1);
  }
  return part;
}

// %1, %L1, %n; any other % is text.
FormatPart number_part(const FormatGrammar& grammar, std::string_view text) {
  const size_t begin = !grammar.lengths.empty() && text.substr(1).starts_with('L') ? 2 : 1;
  if (const size_t digits = digits_at(text, begin); digits > 0)
    return directive(begin + (grammar.flag.starts_with("qt") ? std::min<size_t>(digits, 2) : digits));
  if (begin < text.size() && is_in(text[begin], grammar.conversions)) return directive(begin + 1);
  return {};
}

FormatPart braces_part(const FormatGrammar& grammar, std::string_view text) {
  if (text.starts_with("{{") || text.starts_with("}}")) return character(2, text[0]);
  if (text[0] == '}') return {};
  size_t after = 1;
  while (after < text.size() && (is_word_character(text[after]) || is_in(text[after], ".[]"))) ++after;
  const size_t end = past_brackets(text, 0, '{', '}');
  if (grammar.flag == "csharp" && text.substr(after).starts_with(',')) {  // a width
    ++after;
    while (after < text.size() && is_in(text[after], " -0123456789")) ++after;
  }
  const std::string_view enders = grammar.flag == "csharp" ? ":}" : "!:}";
  return end != text.npos && is_in(text[after], enders) ? directive(end)
                                                        : FormatPart{.kind = PartKind::invalid};
}

// In quotes a brace has no meaning. A single quotation mark quotes all that follows: harmless if that has no braces.
FormatPart message_part(std::string_view text) {
  if (text.starts_with("''")) return character(2, '\'');
  if (text[0] == '\'') {
    const size_t end = text.find('\'', 1);
    if (end == text.npos) return text.find('{') == text.npos ? character(1, '\'') : directive(text.size());
    return end == 2 ? character(3, text[1]) : directive(end + 1);
  }
  const size_t end = past_brackets(text, 0, '{', '}'), digits = digits_at(text, 1);
  return text[0] == '{' && end != text.npos && digits > 0 && is_in(text[1 + digits], ",}")
             ? directive(end)
             : FormatPart{.kind = PartKind::invalid};
}

FormatPart name_in_braces(std::string_view text) {
  const size_t name = name_at(text, 1);
  return name > 0 && text.substr(1 + name).starts_with('}') ? directive(name + 2) : FormatPart{};
}

FormatPart shell_part(std::string_view text) {
  if (text.starts_with("${")) {
    const size_t name = name_at(text, 2);
    return name > 0 && text.substr(2 + name).starts_with('}') ? directive(name + 3)
                                                              : FormatPart{.kind = PartKind::invalid};
  }
  const size_t name = name_at(text, 1);
  return name > 0 ? directive(name + 1) : FormatPart{.kind = PartKind::invalid};
}

FormatPart tilde_part(std::string_view text) {
  if (text.starts_with("~~")) return character(2, '~');
  size_t at = 1;
  while (at < text.size() && is_in(text[at], "0123456789-+,'v#:@")) at += text[at] == '\'' ? 2 : 1;
  return at < text.size() ? directive(at + 1) : FormatPart{.kind = PartKind::invalid};
}

std::vector<std::string_view> directives_in(const FormatGrammar& grammar, std::string_view text) {
  std::vector<std::string_view> found;
  for (const TextSpan place : directives(grammar, text).value_or(std::vector<TextSpan>()))
    found.push_back(place.of(text));
  return found;
}

// Whether a directive takes the next argument.
bool is_in_order(const FormatGrammar& grammar, std::string_view directive) {
  switch (grammar.style) {
    case FormatStyle::percent:
    case FormatStyle::loose: {
      if (directive[0] != '%' || directive.back() == '%' || is_in(directive.back(), grammar.silent) ||
          directive == "%arg")
        return false;
      const size_t digits = digits_at(directive, 1);
      const bool numbered = digits > 0 && directive.substr(1 + digits).starts_with('$');
      const bool named = !grammar.names.empty() && is_in(grammar.names[0], directive);
      const bool same_again = grammar.silent == "n" && is_in('<', directive);
      return !numbered && !named && !same_again && directive[1] != '{';
    }
    case FormatStyle::braces:
      return directive.size() == 2 || directive[1] == ':';
    case FormatStyle::tilde:
      return true;
    default:
      return false;
  }
}

// The directives that take the next argument, or the others.
std::vector<std::string_view> directives_in_order(const FormatGrammar& grammar, std::string_view text,
                                                  bool in_order) {
  std::vector<std::string_view> found = directives_in(grammar, text);
  std::erase_if(found,
                [&](std::string_view directive) { return is_in_order(grammar, directive) != in_order; });
  return found;
}

// {name:>8} and {name} take the same argument.
std::string_view argument_of(const FormatGrammar& grammar, std::string_view directive) {
  const size_t digits = digits_at(directive, 1);
  if (grammar.style == FormatStyle::percent && directive.substr(1 + digits).starts_with('$'))
    return directive.substr(1, digits);
  const size_t end = grammar.style == FormatStyle::percent && !grammar.names.empty()
                         ? directive.find(grammar.names[1])
                         : directive.find_first_of(",:.[!}");
  return directive.substr(0, end);
}

}  // namespace

std::string_view format_signs(const FormatGrammar& grammar) {
  switch (grammar.style) {
    case FormatStyle::percent:
      return "%";
    case FormatStyle::loose:
      return grammar.flag == "android" ? "%<&" : "%";
    case FormatStyle::number:
      return "%";
    case FormatStyle::braces:
      return "{}";
    case FormatStyle::message:
      return "{}'";
    case FormatStyle::names_in_braces:
      return "{";
    case FormatStyle::shell:
      return "$";
    case FormatStyle::tilde:
      return "~";
  }
  return {};
}

FormatPart format_part(const FormatGrammar& grammar, std::string_view text) {
  if (text.empty() || !is_in(text[0], format_signs(grammar))) return {};
  switch (grammar.style) {
    case FormatStyle::percent:
      return percent_part(grammar, text);
    case FormatStyle::loose:
      return loose_part(grammar, text);
    case FormatStyle::number:
      return number_part(grammar, text);
    case FormatStyle::braces:
      return braces_part(grammar, text);
    case FormatStyle::message:
      return message_part(text);
    case FormatStyle::names_in_braces:
      return name_in_braces(text);
    case FormatStyle::shell:
      return shell_part(text);
    case FormatStyle::tilde:
      return tilde_part(text);
  }
  return {};
}

std::optional<std::vector<TextSpan>> directives(const FormatGrammar& grammar, std::string_view text) {
  std::vector<TextSpan> found;
  const std::string_view signs = format_signs(grammar);
  for (size_t at = text.find_first_of(signs); at < text.size();) {
    const FormatPart part = format_part(grammar, text.substr(at));
    if (part.kind == PartKind::invalid) return {};
    if (part.kind == PartKind::directive) found.push_back({at, at + part.size});
    at = text.find_first_of(signs, at + part.size);
  }
  return found;
}

std::string escape_format(const FormatGrammar& grammar, std::string_view text) {
  switch (grammar.style) {
    case FormatStyle::percent:
      return escaped(text, {{'%', "%%"}});
    case FormatStyle::braces:
      return escaped(text, {{'{', "{{"}, {'}', "}}"}});
    case FormatStyle::message:
      return escaped(text, {{'{', "'{'"}, {'}', "'}'"}, {'\'', "''"}});
    case FormatStyle::tilde:
      return escaped(text, {{'~', "~~"}});
    case FormatStyle::loose:
    case FormatStyle::number:
    case FormatStyle::names_in_braces:
    case FormatStyle::shell:
      break;
  }
  // There is no other way to write these: a space makes text of a directive.
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const FormatPart part = format_part(grammar, text.substr(at));
    result += text[at];
    if (part.kind != PartKind::text) result += ' ';
  }
  return result;
}

bool takes_arguments_of(const FormatGrammar& grammar, std::string_view some, std::string_view all) {
  const auto ordered = directives_in_order(grammar, some, true);
  const auto all_ordered = directives_in_order(grammar, all, true);
  const bool needs_all =
      grammar.style == FormatStyle::number || grammar.style == FormatStyle::tilde || grammar.flag == "lua";
  if (needs_all) return directives_in(grammar, some) == directives_in(grammar, all);
  const auto without_names = [&](std::string_view text) {
    return std::ranges::count_if(directives_in(grammar, text), [&](std::string_view each) {
      return !is_in(grammar.names[0], each) && each[1] != '{';
    });
  };
  if (!grammar.names.empty() && without_names(some) != without_names(all)) return false;
  if (ordered.size() > all_ordered.size() || !std::equal(ordered.begin(), ordered.end(), all_ordered.begin()))
    return false;
  const auto named = directives_in_order(grammar, some, false),
             all_named = directives_in_order(grammar, all, false);
  return std::ranges::all_of(named, [&](std::string_view each) {
    const auto same = [&](std::string_view other) {
      return argument_of(grammar, each) == argument_of(grammar, other);
    };
    // {0,number} says what type the argument has.
    const auto agrees = [&](std::string_view other) {
      return grammar.style != FormatStyle::message || !same(other) || each == other;
    };
    return std::ranges::any_of(all_named, same) && std::ranges::all_of(all_named, agrees);
  });
}

std::optional<std::string> with_arguments_in_order(const FormatGrammar& grammar, std::string_view message,
                                                   std::string_view translation) {
  const auto places = directives(grammar, translation);
  if (!places) return {};
  const auto sorted = [&](std::string_view text) {
    std::vector<std::string_view> found = directives_in(grammar, text);
    std::ranges::sort(found);
    return found;
  };
  if (sorted(message) != sorted(translation)) return {};
  std::vector<std::string_view> wanted = directives_in_order(grammar, message, true);
  const bool is_mixed =
      !wanted.empty() && std::ranges::any_of(directives_in(grammar, message),
                                             [](std::string_view each) { return is_in('$', each); });
  if (is_mixed ? directives_in(grammar, message) == directives_in(grammar, translation)
               : wanted == directives_in_order(grammar, translation, true))
    return std::string(translation);
  const bool has_widths = std::ranges::any_of(wanted, [](std::string_view each) { return is_in('*', each); });
  if (!grammar.may_number || has_widths || is_mixed) return {};
  std::string numbered;
  size_t at = 0;
  for (const TextSpan place : *places) {
    if (!is_in_order(grammar, place.of(translation))) continue;
    const auto argument = std::ranges::find(wanted, place.of(translation));
    numbered.append(translation.substr(at, place.begin + 1 - at))
        .append(std::to_string(argument - wanted.begin() + 1) + '$');
    *argument = {};  // each once
    at = place.begin + 1;
  }
  return numbered.append(translation.substr(at));
}

}  // namespace dragoman::internal
