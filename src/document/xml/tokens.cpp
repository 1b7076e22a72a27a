#include "document/xml/tokens.h"

#include <algorithm>

#include <fmt/format.h>
#include <libxml/HTMLparser.h>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view white_space = " \t\r\n";

// The place after `end`, which a well-formed file contains.
size_t behind(std::string_view xml, std::string_view end, size_t from) {
  const size_t found = xml.find(end, from);
  return found == std::string_view::npos ? xml.size() : found + end.size();
}

// The place after the first of these characters outside quotes.
size_t behind_unquoted(std::string_view xml, std::string_view ends, size_t from) {
  const std::string stops = "\"'" + std::string(ends);
  size_t at = xml.find_first_of(stops, from);
  while (at != std::string_view::npos && (xml[at] == '"' || xml[at] == '\'')) {
    at = xml.find(xml[at], at + 1);
    if (at != std::string_view::npos) at = xml.find_first_of(stops, at + 1);
  }
  return std::min(at, xml.size() - 1) + 1;
}

// A document type may hold declarations in brackets, with comments among them.
size_t behind_doctype(std::string_view xml) {
  size_t at = behind_unquoted(xml, "[>", 0);
  if (xml[at - 1] != '[') return at;
  while (at < xml.size() && xml[at] != ']') {
    const std::string_view rest = xml.substr(at);
    if (rest.starts_with("<!--"))
      at = behind(xml, "-->", at);
    else if (rest.starts_with("<?"))
      at = behind(xml, "?>", at);
    else if (rest.starts_with("<!"))
      at = behind_unquoted(xml, ">", at);
    else
      ++at;
  }
  return behind(xml, ">", at);
}

// The character that a reference's name, without & and ;, stands for.
std::optional<char32_t> referenced(std::string_view name) {
  if (name.starts_with('#')) {
    const bool hexadecimal = name.starts_with("#x");
    const auto number = parse_number<uint32_t>(name.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
    if (!number) return {};
    return static_cast<char32_t>(*number);
  }
  if (name == "apos") return U'\'';  // not defined in HTML
  const htmlEntityDesc* const entity =
      htmlEntityLookup(reinterpret_cast<const xmlChar*>(std::string(name).c_str()));
  if (entity == nullptr) return {};
  return static_cast<char32_t>(entity->value);
}

struct Reference {
  size_t size = 0;        // from & to ;
  std::string text = {};  // empty: not a character's
};

// Names that a file declares are none of a character's.
using DeclaredNames = std::set<std::string_view>;

Reference reference_at(std::string_view text, const DeclaredNames& declared = {}) {
  const size_t end = text.substr(0, max_xml_entity_bytes + 2).find(';');
  if (end == std::string_view::npos) return {1, "&"};
  const std::string_view name = text.substr(1, end - 1);
  const auto c = declared.contains(name) ? std::nullopt : referenced(name);
  return {end + 1, c ? to_utf8(*c) : ""};
}

// Text up to the next tag or entity.
size_t text_end(std::string_view xml, const DeclaredNames& declared) {
  size_t at = 0;
  while ((at = xml.find_first_of("<&", at)) != std::string_view::npos && xml[at] == '&') {
    const Reference reference = reference_at(xml.substr(at), declared);
    if (reference.text.empty()) return at;
    at += reference.size;
  }
  return std::min(at, xml.size());
}

std::pair<XmlToken::Kind, size_t> token_at(std::string_view xml, const DeclaredNames& declared) {
  using Kind = XmlToken::Kind;
  if (xml[0] == '&')
    if (const Reference reference = reference_at(xml, declared); reference.text.empty())
      return {Kind::entity, reference.size};
  if (xml[0] != '<') return {Kind::text, text_end(xml, declared)};
  if (xml.starts_with("<!--")) return {Kind::comment, behind(xml, "-->", 4)};
  if (xml.starts_with("<![CDATA[")) return {Kind::cdata, behind(xml, "]]>", 9)};
  if (xml.starts_with("<?")) return {Kind::instruction, behind(xml, "?>", 2)};
  if (xml.starts_with("<!")) return {Kind::doctype, behind_doctype(xml)};
  if (xml.starts_with("</")) return {Kind::end, behind(xml, ">", 2)};
  const size_t end = behind_unquoted(xml, ">", 1);
  return {end > 2 && xml[end - 2] == '/' ? Kind::empty : Kind::start, end};
}

}  // namespace

bool XmlTokens::next(XmlToken& token) {
  if (rest_.empty()) return false;
  const auto [kind, size] = token_at(rest_, declared_);
  token = {.kind = kind, .bytes = rest_.substr(0, size)};
  if (token.is_tag()) {
    const size_t begin = kind == XmlToken::Kind::end ? 2 : 1;
    token.name = token.bytes.substr(begin, token.bytes.find_first_of(" \t\r\n/>", begin) - begin);
  }
  if (kind == XmlToken::Kind::doctype) declare(token.bytes);
  rest_.remove_prefix(size);
  return true;
}

// <!ENTITY name "text">: one that is the very character of its name is read as that, as are XML's own five.
void XmlTokens::declare(std::string_view doctype) {
  constexpr std::string_view declaration = "<!ENTITY";
  for (size_t at = doctype.find(declaration); at != doctype.npos; at = doctype.find(declaration, at)) {
    at = std::min(doctype.find_first_not_of(white_space, at + declaration.size()), doctype.size());
    std::string_view rest = doctype.substr(at, max_xml_entity_bytes + 1);
    const std::string_view name = rest.substr(0, rest.find_first_of(white_space));
    at = std::min(doctype.find_first_not_of(white_space, at + name.size()), doctype.size());
    rest = doctype.substr(at, 100);  // longer than a character
    if (!rest.starts_with('"') && !rest.starts_with('\'')) continue;
    const std::string decoded = decode_xml(rest.substr(1, rest.find(rest[0], 1) - 1));
    const auto c = referenced(name);
    const bool is_xml = name == "lt" || name == "gt" || name == "amp" || name == "quot" || name == "apos";
    if (c && !is_xml && decoded != to_utf8(*c)) declared_.insert(name);
  }
}

std::vector<XmlAttribute> xml_attributes(std::string_view tag) {
  std::vector<XmlAttribute> attributes;
  size_t at = tag.find_first_of(white_space);
  while ((at = tag.find_first_not_of(white_space, at)) != std::string_view::npos) {
    const size_t sign = tag.find('=', at), quote = tag.find_first_of("\"'", sign);
    if (sign == std::string_view::npos || quote == std::string_view::npos) break;
    const size_t end = std::min(tag.find(tag[quote], quote + 1), tag.size() - 1);
    attributes.push_back({tag.substr(at, tag.find_first_of(" \t\r\n=", at) - at), {quote + 1, end}});
    at = end + 1;
  }
  return attributes;
}

std::optional<TextSpan> xml_attribute_place(std::string_view tag, std::string_view name) {
  for (const XmlAttribute& attribute : xml_attributes(tag))
    if (attribute.name == name) return attribute.value;
  return {};
}

std::string xml_attribute(std::string_view tag, std::string_view name) {
  const auto place = xml_attribute_place(tag, name);
  return place ? decode_xml(tag.substr(place->begin, place->end - place->begin)) : "";
}

std::string with_xml_attribute(std::string_view tag, std::string_view name, std::string_view value) {
  std::string changed(tag);
  if (const auto place = xml_attribute_place(tag, name))
    return changed.replace(place->begin, place->end - place->begin, escape_xml_attribute(value));
  const size_t end = tag.find_last_not_of(white_space, tag.size() - (tag.ends_with("/>") ? 3 : 2)) + 1;
  return changed.insert(end, fmt::format(" {}=\"{}\"", name, escape_xml_attribute(value)));
}

std::string_view local_name(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string decode_xml(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    const size_t plain = std::min(text.find('&'), text.size());
    decoded += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Reference reference = reference_at(text);
    decoded += reference.text.empty() ? text.substr(0, reference.size) : reference.text;
    text.remove_prefix(reference.size);
  }
  return decoded;
}

std::string escape_xml(std::string_view text) {
  std::string writable;
  for (const char c : text) {
    const bool has_no_way =
        static_cast<unsigned char>(c) < ' ' && white_space.find(c) == std::string_view::npos;
    writable += has_no_way ? "\uFFFD" : std::string_view(&c, 1);
  }
  return escape_markup(writable);
}

std::string escape_xml_attribute(std::string_view text) {
  return escaped(escape_xml(text), {{'"', "&quot;"}, {'\'', "&apos;"}});
}

}  // namespace dragoman::internal
