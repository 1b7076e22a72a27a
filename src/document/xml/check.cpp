// Before the first token: the encoding, and whether libxml2 finds the file well-formed.
#include <algorithm>
#include <memory>

#include <libxml/parserInternals.h>

#include "base/error.h"
#include "document/encodings.h"
#include "document/xml/safe_parser.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_xml_bytes = size_t{1} << 29;  // libxml2 and ICU count in int

// libxml2 compares each attribute of a tag with all others.
void check_attributes(std::string_view xml, const DocumentSettings& settings) {
  constexpr size_t max_attributes = 1000;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);) {
    if (!token.is_tag() || token.bytes.size() < max_attributes) continue;
    if (xml_attributes(token.bytes).size() <= max_attributes) continue;
    const auto line = 1 + std::count(xml.data(), token.bytes.data(), '\n');
    throw Error("{}: line {}: this tag has more than {} attributes: repair the file", settings.name, line,
                max_attributes);
  }
}

void check_well_formed(std::string_view xml, const DocumentSettings& settings) {
  const std::unique_ptr<xmlParserCtxt, FreeParser> context(
      xmlCreateMemoryParserCtxt(xml.data(), static_cast<int>(xml.size())));
  if (context == nullptr) throw Error("{}: the file is empty: check that it is complete", settings.name);
  xmlCtxtUseOptions(context.get(), XML_PARSE_NONET);
  ParserState state;
  context->_private = &state;
  *context->sax = safe_handler();
  xmlParseDocument(context.get());
  if (context->wellFormed != 0 && state.refusal.empty()) return;
  if (state.refusal.empty()) state.refusal = "invalid XML";
  throw Error("{}: line {}: {}: repair the file", settings.name, state.line, state.refusal);
}

// --- encodings ---

// The place of the encoding's name in the declaration; empty if there is none.
TextSpan declared_encoding(std::string_view xml) {
  if (!xml.starts_with("<?xml")) return {};
  const std::string_view declaration = xml.substr(0, xml.find("?>"));
  return xml_attribute_place(declaration, "encoding").value_or(TextSpan{});
}

std::string encoding_of(std::string_view bytes) {
  using namespace std::literals;
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return "UTF-16";
  if (bytes.starts_with("<\0\0\0"sv)) return "UTF-32LE";
  if (bytes.starts_with("\0\0\0<"sv)) return "UTF-32BE";
  if (bytes.starts_with("<\0"sv)) return "UTF-16LE";
  if (bytes.starts_with("\0<"sv)) return "UTF-16BE";
  if (bytes.starts_with(byte_order_mark)) return "UTF-8";
  const TextSpan place = declared_encoding(bytes.substr(0, 1000));
  if (place.begin == place.end) return "UTF-8";
  return std::string(place.of(bytes));
}

std::string with_declaration_of_utf8(std::string xml) {
  const TextSpan place = declared_encoding(xml);
  if (place.begin < place.end) xml.replace(place.begin, place.end - place.begin, "UTF-8");
  return xml;
}

}  // namespace

std::string checked_xml(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.size() > max_xml_bytes)
    throw Error("{}: the file has more than 512 MB of XML: split it", settings.name);
  const std::string encoding = encoding_of(bytes);
  std::string xml(bytes);
  if (is_same_encoding(encoding, "US-ASCII")) {  // which is UTF-8, and its translation may be no more
    xml = with_declaration_of_utf8(std::move(xml));
  } else if (!is_same_encoding(encoding, "UTF-8")) {
    xml = with_declaration_of_utf8(converted_to_utf8(bytes, encoding, settings));
  }
  check_attributes(xml, settings);
  check_well_formed(xml, settings);
  return xml;
}

Document read_xml(std::string_view bytes, const DocumentSettings& settings,
                  const std::function<Document(std::string_view xml)>& read) {
  const std::string xml = checked_xml(bytes, settings);
  Document document = read(xml);
  return xml == bytes ? document : read_from_other_bytes(std::move(document), bytes);
}

}  // namespace dragoman::internal
