// XML of any size, read once from its beginning to its end. For files that are only read: what is to be written again
// is read as tokens (tokens.h).
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "document/document.h"

namespace dragoman::internal {

struct XmlStreamAttribute {
  std::string_view name;  // without its prefix
  std::string value;
};

// What is called as the file is read. Names are without prefixes.
class XmlEvents {
 public:
  virtual ~XmlEvents() = default;
  virtual void start(std::string_view name, const std::vector<XmlStreamAttribute>& attributes) = 0;
  virtual void end(std::string_view name) = 0;
  virtual void text(std::string_view text) = 0;  // in pieces, without entities that the file declares
};

// The value of an attribute; empty if there is none.
std::string value_of(std::string_view name, const std::vector<XmlStreamAttribute>& attributes);

// Throws an Error with the line where the file stops being well-formed.
void stream_xml(ByteSource& bytes, const DocumentSettings& settings, XmlEvents& events);

}  // namespace dragoman::internal
