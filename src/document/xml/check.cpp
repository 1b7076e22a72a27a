// Before the first token: the encoding, and whether libxml2 finds the file well-formed.
#include <algorithm>
#include <memory>

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "base/error.h"
#include "document/encodings.h"
#include "document/xml/tokens.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_xml_bytes = size_t{1} << 29;  // libxml2 and ICU count in int

// --- libxml2 ---

// The first reason why a file is rejected.
struct Refusal {
  int line = 0;
  std::string reason;

  void set(int where, std::string why) {
    if (reason.empty()) *this = {where, std::move(why)};
  }
};

Refusal& refusal_of(void* context) {
  return *static_cast<Refusal*>(static_cast<xmlParserCtxtPtr>(context)->_private);
}

void on_error(void* context, xmlErrorPtr error) {
  if (error->level != XML_ERR_FATAL || error->message == nullptr) return;
  std::string message = repaired(error->message);
  std::ranges::replace(message, '\n', ' ');
  message.erase(message.find_last_not_of(' ') + 1);
  refusal_of(context).set(error->line, "invalid XML: " + message);
}

// Each entity is a space here: what it stands for may be another file, or entities that grow without bound.
void on_entity(void* context, const xmlChar* name, int type, const xmlChar*, const xmlChar*, xmlChar*) {
  const bool is_parameter = type == XML_INTERNAL_PARAMETER_ENTITY || type == XML_EXTERNAL_PARAMETER_ENTITY;
  if (is_parameter || xmlStrlen(name) <= static_cast<int>(max_xml_entity_bytes)) {
    xmlChar space[] = " ";
    return xmlSAX2EntityDecl(context, name,
                             is_parameter ? XML_INTERNAL_PARAMETER_ENTITY : XML_INTERNAL_GENERAL_ENTITY,
                             nullptr, nullptr, space);
  }
  refusal_of(context).set(xmlSAX2GetLineNumber(context),
                          fmt::format("the name of the entity {} is longer than {} bytes",
                                      repaired(reinterpret_cast<const char*>(name)), max_xml_entity_bytes));
  xmlStopParser(static_cast<xmlParserCtxtPtr>(context));
}

void no_file(void*, const xmlChar*, const xmlChar*, const xmlChar*) {}

struct FreeContext {
  void operator()(xmlParserCtxtPtr context) const {
    if (context->myDoc != nullptr) xmlFreeDoc(context->myDoc);
    xmlFreeParserCtxt(context);
  }
};

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

// Only the SAX handlers that keep the declared entities: no tree is built.
void check_well_formed(std::string_view xml, const DocumentSettings& settings) {
  static const bool initialized = (xmlInitParser(), true);
  static_cast<void>(initialized);
  const std::unique_ptr<xmlParserCtxt, FreeContext> context(
      xmlCreateMemoryParserCtxt(xml.data(), static_cast<int>(xml.size())));
  if (context == nullptr) throw Error("{}: the file is empty: check that it is complete", settings.name);
  xmlCtxtUseOptions(context.get(), XML_PARSE_NONET);
  Refusal refusal;
  context->_private = &refusal;
  xmlSAXHandler handler = {};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startDocument = xmlSAX2StartDocument;
  handler.internalSubset = xmlSAX2InternalSubset;
  handler.externalSubset = no_file;
  handler.getEntity = xmlSAX2GetEntity;
  handler.getParameterEntity = xmlSAX2GetParameterEntity;
  handler.entityDecl = on_entity;
  handler.serror = on_error;
  *context->sax = handler;
  xmlParseDocument(context.get());
  if (context->wellFormed != 0 && refusal.reason.empty()) return;
  if (refusal.reason.empty()) refusal.reason = "invalid XML";
  throw Error("{}: line {}: {}: repair the file", settings.name, refusal.line, refusal.reason);
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
