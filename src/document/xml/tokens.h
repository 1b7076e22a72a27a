// XML as a sequence of tokens with their places in the file.
//
//   return read_xml(bytes, settings, [&](std::string_view xml) {
//     XmlTokens tokens(xml);
//     for (XmlToken token; tokens.next(token);) ...
//   });
//
// libxml2 has found the file well-formed before the first token, so no later code need expect broken XML: tags
// match, and elements nest at most 256 deep. Nothing outside the file is read. A file may declare entities only for
// plain text; they are not replaced, but are tokens of their own.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

inline constexpr size_t max_xml_entity_bytes = 100;  // of its name

struct XmlToken {
  enum class Kind { start, end, empty, text, cdata, entity, comment, instruction, doctype };
  Kind kind = Kind::text;
  std::string_view bytes;
  std::string_view name = {};  // of a tag, with its prefix

  bool is_tag() const { return kind == Kind::start || kind == Kind::end || kind == Kind::empty; }
};

class XmlTokens {
 public:
  explicit XmlTokens(std::string_view well_formed) : rest_(well_formed) {}

  // Whether there was another token. Together they are the file.
  bool next(XmlToken& token);

 private:
  void declare(std::string_view doctype);

  std::string_view rest_;
  std::set<std::string_view> declared_;  // entities that a document type has read as other text than XHTML's
};

// Reads XML in any encoding that it declares: `read` gets it in UTF-8, with a matching declaration. A file without
// changes is written as it was, others in UTF-8. Throws an Error with the line if the file is not well-formed.
Document read_xml(std::string_view bytes, const DocumentSettings& settings,
                  const std::function<Document(std::string_view xml)>& read);

// The same bytes as UTF-8, checked.
std::string checked_xml(std::string_view bytes, const DocumentSettings& settings);

struct XmlAttribute {
  std::string_view name;
  TextSpan value;  // as the tag has it, in bytes of the tag
};

// Of a start tag or an empty one.
std::vector<XmlAttribute> xml_attributes(std::string_view tag);
std::optional<TextSpan> xml_attribute_place(std::string_view tag, std::string_view name);
// Decoded; empty if there is none.
std::string xml_attribute(std::string_view tag, std::string_view name);
// The tag with the attribute set to this text.
std::string with_xml_attribute(std::string_view tag, std::string_view name, std::string_view value);

std::string_view local_name(std::string_view name);  // without its prefix

// References to characters, by number or by a name of XML or XHTML, as characters.
std::string decode_xml(std::string_view text);
std::string escape_xml(std::string_view text);
std::string escape_xml_attribute(std::string_view text);  // for either quotes

}  // namespace dragoman::internal
