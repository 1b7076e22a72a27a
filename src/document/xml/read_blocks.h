// XML files with text in blocks, by a format's rules for names: office files and books.
//
//   return read_xml_blocks(bytes, settings, rules);
#pragma once

#include "document/document.h"
#include "document/xml/rules.h"

namespace dragoman::internal {

Document read_xml_blocks(std::string_view bytes, const DocumentSettings& settings, const XmlRules& rules);

}  // namespace dragoman::internal
