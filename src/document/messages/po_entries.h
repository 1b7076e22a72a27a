// The entries of a message catalogue (gettext's PO), and where their parts are in the file.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

// A keyword and its strings: msgid "..." "...".
struct PoField {
  TextSpan place = {};  // from the keyword to the last quotation mark
  std::string value;    // the strings' bytes, without quotation marks: \n is still \n
};

struct PoEntry {
  size_t begin = 0;  // of its first keyword, msgctxt or msgid
  PoField id, plural_id;
  std::vector<PoField> translations;  // msgstr, or msgstr[0], msgstr[1], ...
  std::vector<TextSpan> flag_lines;   // that begin with "#,", with their line breaks
  std::vector<std::string_view> flags;
  std::vector<TextSpan> previous;  // and with "#|"
  bool has_context = false, has_plural = false;

  bool is_fuzzy() const { return std::ranges::find(flags, "fuzzy") != flags.end(); }
  bool is_header() const { return !has_context && id.value.empty(); }
};

// Of a line that begins with "#,".
std::vector<std::string_view> flags_of(std::string_view line);

// Without obsolete entries (#~) and comments. Throws an Error with the line of what is invalid.
std::vector<PoEntry> po_entries(std::string_view file, const DocumentSettings& settings);

}  // namespace dragoman::internal
