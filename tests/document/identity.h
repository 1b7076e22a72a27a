// The identity: every segment's translation is its text, and each format gives the file back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

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

// However it is truncated, a file comes back whole or is refused because a character is.
inline void expect_every_beginning(std::string_view format, const std::string& whole) {
  for (size_t size = 0; size <= whole.size(); ++size) {
    const std::string part = whole.substr(0, size), error = refusal(format, part);
    if (error.empty()) {
      ASSERT_EQ(identity_of(read_as(format, part)), part);
    } else {
      ASSERT_NE(error.find("is not valid UTF-8"), std::string::npos) << error;
    }
  }
}

inline std::string repeated(std::string_view part, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += part;
  return all;
}

}  // namespace dragoman::internal
