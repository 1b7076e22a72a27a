// Strings of user interfaces, in message catalogues and string tables.
//
// A line is a segment, but one that continues on the next line is joined with it. Tags in a string are marks, and so is
// the sign of an access key (&File, _File), which is written before a word. In ICU's plurals and selections
// ({count, plural, one {# file} other {# files}}) the texts are segments, and the rest stays. Directives of format
// strings are fixed words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "document/messages/format_strings.h"
#include "document/segments/inline_text.h"

namespace dragoman::internal {

// How a kind of file writes strings.
struct StringSyntax {
  // Appends the character at the beginning of a string's bytes to the text, and returns how many bytes it takes.
  size_t (*decode)(std::string_view bytes, std::string& text);
  std::string (*escape[2])(std::string_view text);  // text as the file has it; [1]: with & < > as entities
};

template <size_t (*decode)(std::string_view, std::string&), std::string (*escape)(std::string_view)>
StringSyntax string_syntax() {
  return {decode, {escape, [](std::string_view text) { return escape(escape_markup(text)); }}};
}

struct MessagePart {
  std::string kept;                        // bytes of the file
  std::optional<DocumentSegment> segment;  // after them
};

struct MessageKind {
  bool may_be_icu = false;                 // where it has plurals or selections
  bool is_icu = false;                     // in any case, since others in the file are
  const FormatGrammar* grammar = nullptr;  // of a message that is a valid format string; null: it is none
};

// A string's bytes in a file, without its quotation marks.
std::vector<MessagePart> message_parts(std::string_view bytes, const StringSyntax& syntax, MessageKind kind);

// Escapes of a backslash and one character, such as \n.
struct StringEscapes {
  std::string_view codes, characters;  // "nt", "\n\t": each code stands for the character at its place
};

// Appends the first character of the bytes, escaped or not, to the text, and returns how many bytes it takes. A
// backslash before any other character stands for itself.
size_t decode_character(std::string_view bytes, const StringEscapes& escapes, std::string& text);

std::string escape_characters(std::string_view text, const StringEscapes& escapes);

// Of strings without escapes.
size_t decode_as_is(std::string_view bytes, std::string& text);
std::string escape_as_is(std::string_view text);

}  // namespace dragoman::internal
