// The meaning of element names in a format with text in blocks.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::internal {

enum class XmlRole {
  // Outside blocks only a tag; in a block a point with everything inside, which may include blocks.
  other,
  block,      // its text is segments
  run_block,  // so is the text of its runs; text outside of them is white space between tags
  tags,       // a pair that is a mark
  border,     // ends a segment
  space,      // stands for white space between words
  hyphen,     // stands for a hyphen
  hint,       // left out of a rewritten paragraph
  untouched,  // with everything inside

  run,              // text with a format: all text of an office file is in runs
  run_format,       // its description
  run_text,         // its text
  run_text_spaced,  // the same, where white space at the edges needs xml:space
  field_code,       // in a run: everything up to field_text describes a field, and its text follows
  field_text,
  field_end,
  field,  // an element that is a pair of tags around the text in it
};

struct XmlNamespace {
  std::string_view name, prefix;
};

struct XmlRules {
  // Of an element, by its name with the usual prefix of its namespace, whatever prefix the file uses.
  XmlRole (*role)(std::string_view name, std::string_view tag) = nullptr;
  std::span<const XmlNamespace> namespaces = {};
  bool collapsed = false;  // white space in text is as in HTML
  bool lines = false;      // a line feed ends a segment, and so does a character written as its number
  // Whose values are text.
  std::span<const std::string_view> attributes = {};
  // The part of the description that is equal in runs that look alike; null: all of it.
  std::string (*format_key)(std::string_view description) = nullptr;
  const std::set<std::string>* fixed = nullptr;  // texts of blocks that stay as they are; may be null
};

}  // namespace dragoman::internal
