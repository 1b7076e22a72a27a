#include "document/xml/safe_parser.h"

#include <algorithm>

#include <fmt/format.h>
#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>

#include "document/xml/tokens.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

void on_error(void* context, xmlErrorPtr error) {
  if (error->level != XML_ERR_FATAL || error->message == nullptr) return;
  std::string message = repaired(error->message);
  std::ranges::replace(message, '\n', ' ');
  message.erase(message.find_last_not_of(' ') + 1);
  state_of(context).refuse(error->line, "invalid XML: " + message);
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
  state_of(context).refuse(xmlSAX2GetLineNumber(context),
                           fmt::format("the name of the entity {} is longer than {} bytes",
                                       repaired(reinterpret_cast<const char*>(name)), max_xml_entity_bytes));
  xmlStopParser(static_cast<xmlParserCtxtPtr>(context));
}

void no_file(void*, const xmlChar*, const xmlChar*, const xmlChar*) {}

}  // namespace

xmlSAXHandler safe_handler() {
  static const bool initialized = (xmlInitParser(), true);
  static_cast<void>(initialized);
  xmlSAXHandler handler = {};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startDocument = xmlSAX2StartDocument;
  handler.internalSubset = xmlSAX2InternalSubset;
  handler.externalSubset = no_file;
  handler.getEntity = xmlSAX2GetEntity;
  handler.getParameterEntity = xmlSAX2GetParameterEntity;
  handler.entityDecl = on_entity;
  handler.serror = on_error;
  return handler;
}

}  // namespace dragoman::internal
