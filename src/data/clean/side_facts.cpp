#include "data/clean/side_facts.h"

#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

size_t script_number(char32_t c) {
  if (c < 0x80) return USCRIPT_LATIN;
  const int32_t script = u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_SCRIPT);
  return std::min(static_cast<size_t>(script), script_numbers - 1);
}

bool is_shared(size_t script) { return script == USCRIPT_COMMON || script == USCRIPT_INHERITED; }

bool is_control(char32_t c) { return (c < 0x20 && c != '\t' && c != '\r') || (c >= 0x7F && c < 0xA0); }

// --- UTF-8 that was read as Windows-1252 ------------------------------------------------------------

// The byte that Windows-1252 or Latin-1 shows as this character; 0 where there is none above ASCII.
uint8_t byte_shown_as(char32_t c) {
  constexpr std::u32string_view windows =
      U"\u20AC\u0081\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\u008D\u017D\u008F"
      U"\u0090\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\u009D\u017E\u0178";
  if (c >= 0x80 && c <= 0xFF) return static_cast<uint8_t>(c);
  const size_t place = windows.find(c);
  return place == windows.npos ? 0 : static_cast<uint8_t>(0x80 + place);
}

// The length of a character of UTF-8 that these characters are the bytes of; 0 where they are none.
size_t misread_length(std::u32string_view text) {
  const size_t length = length_of_character(byte_shown_as(text[0]));
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation(static_cast<char>(byte_shown_as(text[i])))) return 0;
  return length;
}

// --- Addresses and markup ---------------------------------------------------------------------------

bool is_address(std::string_view word) {
  return word.find("://") != word.npos || word.starts_with("www.") ||
         (word.find('@') != word.npos && word.find('.') != word.npos);
}

// The end of a tag or an entity that begins here; 0 where none does. `last_end`, of all tags, tells whether looking for
// one is worthwhile: a line may have very many beginnings without an end.
size_t markup_end(std::string_view text, size_t begin, size_t last_end) {
  constexpr size_t longest_entity = 10;
  if (text[begin] == '<') {
    const bool tag = begin + 1 < last_end && (is_letter(text[begin + 1]) || text[begin + 1] == '/');
    return tag ? text.find('>', begin) + 1 : 0;
  }
  if (text[begin] != '&') return 0;
  const size_t end = text.substr(0, begin + longest_entity).find_first_of("; ", begin);
  return end != text.npos && text[end] == ';' ? end + 1 : 0;
}

}  // namespace

SideFacts facts_of(std::string_view text, ScriptCounts& scripts) {
  SideFacts facts;
  bool in_word = false;
  const std::u32string characters = code_points(text);
  for (const char32_t c : characters) {
    const bool space = is_space(c), letter = is_letter(c);
    facts.visible += !space;
    facts.letters += letter || is_combining(c);
    facts.words += !space && (!in_word || is_of_unspaced_script(c));
    in_word = !space;
    facts.damaged |= c == 0xFFFD || is_control(c);
    if (!letter) continue;
    if (const size_t script = script_number(c); !is_shared(script)) ++scripts[script];
  }
  facts.characters = static_cast<int64_t>(characters.size());
  facts.damaged |= is_misread_utf8(characters);
  return facts;
}

// One is enough where its characters hardly ever meet otherwise. Others may: "É»" ends a quotation in capitals, and a
// French "Ã »" has a no-break space, but not another space behind it, as a misread "à la" has.
bool is_misread_utf8(std::u32string_view text) {
  const auto is_certain = [&](size_t i) {
    return (text[i] == U'Ã' || text[i] == U'Â') &&
           (!is_space(text[i + 1]) || (i + 2 < text.size() && text[i + 2] == U' '));
  };
  int64_t uncertain = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = text[i] < 0x80 ? 0 : misread_length(text.substr(i));
    if (length > 2 || (length == 2 && is_certain(i))) return true;
    uncertain += length == 2;
    if (uncertain > 1) return true;
    i += std::max<size_t>(length, 1);
  }
  return false;
}

bool has_words(std::string_view text) {
  const size_t last_end = text.rfind('>') + 1;  // 0: there is none
  for (size_t begin = 0; begin < text.size();) {
    const size_t word = std::min(text.find_first_not_of(" \t", begin), text.size());
    size_t end = std::min(text.find_first_of(" \t<&", word + 1), text.size());
    if (word == text.size()) return false;
    if (const size_t behind = markup_end(text, word, last_end); behind > 0)
      end = behind;
    else if (const auto one = text.substr(word, end - word);
             !is_address(one) && has_character(one, is_letter))
      return true;
    begin = end;
  }
  return false;
}

std::string bare_words(std::string_view text) {
  std::string words;
  bool in_word = false;
  for (const char32_t c : code_points(text)) {
    const bool part = is_letter(c) || is_number(c) || is_combining(c);
    if (part && !in_word && !words.empty()) words += ' ';
    in_word = part;
    if (part) words += to_utf8(to_lower(c));
  }
  return words;
}

Scripts scripts_of_language(const std::string& language) {
  Scripts scripts = {};
  std::array<UScriptCode, 16> codes = {};
  UErrorCode status = U_ZERO_ERROR;
  const int32_t count =
      uscript_getCode(language.c_str(), codes.data(), static_cast<int32_t>(codes.size()), &status);
  for (int32_t i = 0; U_SUCCESS(status) && i < count; ++i) {
    const auto number = static_cast<size_t>(codes[static_cast<size_t>(i)]);
    if (number < script_numbers && !is_shared(number)) scripts[number] = true;
  }
  return scripts;
}

}  // namespace dragoman::internal
