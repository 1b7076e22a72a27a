// What tests look at in a text with tags.
#pragma once

#include <regex>
#include <string>

namespace dragoman::internal {

inline std::string without_tags(const std::string& text) {
  return std::regex_replace(text, std::regex("<[^>]*>"), "");
}

// What stands between the first tag and the last.
inline std::string tagged_part(const std::string& text) {
  const size_t begin = text.find('>') + 1, end = text.rfind('<');
  return begin > end ? "" : text.substr(begin, end - begin);
}

}  // namespace dragoman::internal
