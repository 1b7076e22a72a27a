// YAML: the strings of a file, as those of Rails' translations.
#include <algorithm>

#include "base/ascii.h"
#include "document/messages/message_document.h"
#include "document/messages/yaml_scalars.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

using YamlStyle = YamlScalar::Style;

std::string escape_yaml_single_quoted(std::string_view text) {
  return internal::escaped(text, {{'\'', "''"}});
}
std::string escape_yaml_double_quoted(std::string_view text) {
  return escape_characters(text, {"0abtnvfre\"\\", std::string_view("\0\a\b\t\n\v\f\r\x1B\"\\", 11)});
}

StringSyntax yaml_syntax(YamlStyle style) {
  switch (style) {
    case YamlStyle::plain:
    case YamlStyle::folded:
      return string_syntax<decode_yaml_folded, escape_as_is>();
    case YamlStyle::single_quoted:
      return string_syntax<decode_yaml_single_quoted, escape_yaml_single_quoted>();
    case YamlStyle::double_quoted:
      return string_syntax<decode_yaml_double_quoted, escape_yaml_double_quoted>();
    case YamlStyle::literal:
      return string_syntax<decode_yaml_literal, escape_as_is>();
  }
  return {};
}

bool is_one_of_words(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return same_ignoring_case(text, word); });
}

// What YAML, in one of its versions, does not take for a string.
bool is_other_value(std::string_view text) {
  if (is_one_of_words(text, {"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"}))
    return true;
  return (is_digit(text[0]) || text[0] == '.' || text[0] == '+' || text[0] == '-') &&
         text.find(' ') == text.npos;
}

bool may_be_plain(std::string_view text, bool in_flow) {
  if (is_other_value(text) || text.find_first_of("\n\t") != text.npos) return false;
  if (std::string_view(" -?:,[]{}#&*!|>'\"%@`=<").find(text[0]) != std::string_view::npos) return false;
  if (in_flow && text.find_first_of(",[]{}:") != text.npos) return false;
  return text.find(": ") == text.npos && text.find(" #") == text.npos && !text.ends_with(':') &&
         !text.ends_with(' ');
}

// Names and codes are no text: one word with something between its letters, or formats of times such as "%d %B".
bool is_code(std::string_view text) {
  std::string letters;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 1 < text.size() && (is_letter(text[at + 1]) || text[at + 1] == '-'))
      at += text[at + 1] == '-' ? 2 : 1;
    else
      letters += text[at];
  }
  if (!has_letters(letters)) return true;
  if (text.find_first_of(" \n") != text.npos) return false;
  const bool in_word =
      std::ranges::any_of(text, [](char c) { return is_digit(c) || c == '_' || c == '/' || c == '='; });
  const size_t inner = text.find_first_of(".:@", 0);
  return in_word || (inner != text.npos && inner + 1 < text.size());
}

bool is_text_value(const YamlScalar& scalar) {
  if (!scalar.is_string || scalar.is_key) return false;
  if (scalar.style == YamlStyle::plain && is_other_value(scalar.value)) return false;
  const bool is_format = scalar.in_formats && scalar.value.find('%') != std::string::npos;
  return !is_format && !is_code(scalar.value);
}

std::string rewritten_scalar(YamlStyle style, bool in_flow, const std::string& text) {
  if (style == YamlStyle::plain)
    return may_be_plain(text, in_flow) ? text : '\'' + escape_yaml_single_quoted(text) + '\'';
  if (style != YamlStyle::literal && style != YamlStyle::folded) return text;
  std::string lines;  // no empty line of a block may be longer than its indentation
  for (const char c : text) {
    if (c == '\n') lines.resize(lines.find_last_not_of(" \t\r") + 1);
    lines += c;
  }
  lines.erase(
      0, std::min(lines.find_first_not_of(" \t\r\n"), lines.size()));  // the first one sets the indentation
  return lines;
}

Document yaml_document(std::string_view file, const DocumentSettings& settings) {
  const YamlFile yaml = yaml_file(file, settings);
  MessageDocument document;
  size_t at = 0;
  for (const YamlScalar& scalar : yaml.scalars) {
    if (scalar.place.begin < at) continue;
    const bool is_language = &scalar == yaml.language && !settings.to.empty();
    if (!is_language && !is_text_value(scalar)) continue;
    document.keep(file.substr(at, scalar.place.begin - at));
    at = scalar.place.end;
    if (is_language) {
      const bool quoted =
          scalar.style == YamlStyle::plain && is_other_value(settings.to);  // Norwegian is "no"
      document.keep(quoted ? '"' + settings.to + '"' : settings.to);
      continue;
    }
    const std::string_view bytes = scalar.place.of(file);
    document.add(bytes, message_parts(bytes, yaml_syntax(scalar.style), {}),
                 [style = scalar.style, in_flow = scalar.in_flow](const std::string& text) {
                   return rewritten_scalar(style, in_flow, text);
                 });
  }
  document.keep(file.substr(at));
  return std::move(document).finish();
}

}  // namespace

Document read_yaml(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  return read_after_mark(bytes, [&](std::string_view text) { return yaml_document(text, settings); });
}

}  // namespace dragoman::internal
