// The identity: every segment's translation is its text, and each format gives the file back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "document/formats.h"
#include "document/projection.h"

namespace dragoman::internal {

inline Document read_as(std::string_view format, std::string_view bytes) {
  return document_format(format, "").read(bytes, {.name = "test." + std::string(format)});
}

// The message of the Error with which reading fails; empty: it does not.
inline std::string refusal(std::string_view format, std::string_view bytes) {
  try {
    read_as(format, bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string identity_of(const Document& document) {
  std::vector<std::string> rendered;
  for (const DocumentSegment& segment : document.segments)
    rendered.push_back(render(segment, segment.text, {}));
  return document.write(rendered);
}

}  // namespace dragoman::internal
