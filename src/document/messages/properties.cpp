// Java's resource bundles: key = value, a line each.
#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "document/messages/message_document.h"
#include "document/messages/unicode_escapes.h"
#include "document/readers.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view property_blanks = " \t\f";

// The bytes of a line break at a place; 0: there is none.
size_t line_break_at(std::string_view text, size_t at) {
  if (text.substr(at).starts_with("\r\n")) return 2;
  return at < text.size() && (text[at] == '\n' || text[at] == '\r') ? 1 : 0;
}

size_t decode_property(std::string_view bytes, std::string& text) {
  if (const size_t size = decode_unicode_escape(bytes, text); size > 0) return size;
  if (bytes[0] != '\\' || bytes.size() == 1) return decode_character(bytes, {}, text);
  if (const size_t size = line_break_at(bytes, 1); size > 0)  // the value goes on in the next line
    return std::min(bytes.find_first_not_of(property_blanks, 1 + size), bytes.size());
  constexpr StringEscapes known = {"ntrf", "\n\t\r\f"};
  if (known.codes.find(bytes[1]) != std::string_view::npos) return decode_character(bytes, known, text);
  return 1 + decode_character(bytes.substr(1), {}, text);  // a backslash before others has no meaning
}

std::string escape_property(std::string_view text) {
  return escape_characters(text, {"ntrf\\", "\n\t\r\f\\"});
}

std::string escape_property_to_ascii(std::string_view text) {
  return with_unicode_escapes(escape_property(text));
}

std::string decoded_property(std::string_view value) {
  std::string text;
  for (size_t at = 0; at < value.size();) at += decode_property(value.substr(at), text);
  return text;
}

// Whether a message is one of java.text.MessageFormat, in which apostrophes are doubled.
bool has_arguments(std::string_view text) {
  const auto places = directives(*format_grammar("java-format"), text);
  return places && std::ranges::any_of(*places, [&](TextSpan place) { return text[place.begin] == '{'; });
}

bool has_single_apostrophe(std::string_view text) {
  for (size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 2))
    if (text.substr(at + 1, 1).find_first_of("'{}") == text.npos) return true;
  return false;
}

class Properties {
 public:
  explicit Properties(std::string_view file)
      : file_(file),
        syntax_(std::ranges::any_of(file, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })
                    ? string_syntax<decode_property, escape_property>()
                    : string_syntax<decode_property, escape_property_to_ascii>()) {}

  Document document() && {
    std::vector<std::string_view> values;
    for (size_t at = 0; at < file_.size();) at = read_line(at, values);
    // Only other programs' messages have single apostrophes beside arguments.
    const bool is_java = std::ranges::none_of(values, [](std::string_view value) {
      const std::string text = decoded_property(value);
      return text.find('{') != text.npos && has_single_apostrophe(text);
    });
    size_t at = 0;
    for (const std::string_view value : values) {
      const auto begin = static_cast<size_t>(value.data() - file_.data());
      document_.keep(file_.substr(at, begin - at));
      at = begin + value.size();
      const bool formats = is_java && has_arguments(decoded_property(value));
      document_.add(value, message_parts(value, syntax_,
                                         {.grammar = formats ? format_grammar("java-format") : nullptr}));
    }
    document_.keep(file_.substr(at));
    return std::move(document_).finish();
  }

 private:
  // Past a line with those that continue it.
  size_t read_line(size_t at, std::vector<std::string_view>& values) const {
    at = std::min(file_.find_first_not_of(property_blanks, at), file_.size());
    if (at == file_.size() || line_break_at(file_, at) > 0)
      return at + std::max<size_t>(line_break_at(file_, at), 1);
    if (file_[at] == '#' || file_[at] == '!') return std::min(file_.find_first_of("\n\r", at), file_.size());
    while (at < file_.size() && std::string_view(" \t\f=:\n\r").find(file_[at]) == std::string_view::npos)
      at += step(at);
    at = skip_blanks(at);
    if (at < file_.size() && (file_[at] == '=' || file_[at] == ':')) at = skip_blanks(at + 1);
    const size_t begin = at;
    while (at < file_.size() && line_break_at(file_, at) == 0) at += step(at);
    at = std::min(at, file_.size());
    if (begin < at) values.push_back(file_.substr(begin, at - begin));
    return at;
  }

  // Past a character, and what a backslash makes of the next one.
  size_t step(size_t at) const {
    return file_[at] != '\\' ? 1 : 1 + std::max<size_t>(line_break_at(file_, at + 1), 1);
  }

  size_t skip_blanks(size_t at) const {
    for (;;) {
      at = std::min(file_.find_first_not_of(property_blanks, at), file_.size());
      const size_t size = at < file_.size() && file_[at] == '\\' ? line_break_at(file_, at + 1) : 0;
      if (size == 0) return at;
      at += 1 + size;
    }
  }

  std::string_view file_;
  StringSyntax syntax_;
  MessageDocument document_ = {};
};

std::string utf8_of_latin1(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += to_utf8(static_cast<unsigned char>(c));
  return text;
}

// What is beyond Latin-1 as escapes.
std::string latin1_of(std::string_view utf8) {
  std::string bytes;
  for (const char32_t c : code_points(utf8))
    bytes += c < 0x100 ? std::string(1, static_cast<char>(c)) : with_unicode_escapes(to_utf8(c));
  return bytes;
}

}  // namespace

// Java reads these files as UTF-8 since its version 9, and as Latin-1 before.
Document read_properties(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.find('\0') != bytes.npos)
    throw Error("{}: the file has NUL characters: convert it to UTF-8 first", settings.name);
  if (is_text(bytes))
    return read_after_mark(bytes, [](std::string_view text) { return Properties(text).document(); });
  const std::string utf8 = utf8_of_latin1(bytes);
  return with_change(Properties(utf8).document(),
                     [](const std::string& written) { return latin1_of(written); });
}

}  // namespace dragoman::internal
