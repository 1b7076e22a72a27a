#include "serve/deepl_tags.h"

#include <algorithm>

#include <fmt/format.h>

namespace dragoman::internal {

IgnoredTags::IgnoredTags(const std::vector<std::string>& names) {
  for (std::string_view rest : names) {
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) names_.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

std::string IgnoredTags::marked(std::string_view text) {
  if (names_.empty()) return std::string(text);
  for (int number = 0; mark_.empty() || text.find(mark_) != text.npos; ++number)
    mark_ = fmt::format(" translate=\"no\" data-ignored=\"{}\"", number);
  std::string result;
  while (!text.empty()) {
    const size_t tag = std::min(text.find('<'), text.size() - 1) + 1;
    result += text.substr(0, tag);
    text.remove_prefix(tag);
    const std::string_view name = text.substr(0, text.find_first_of(" \t\r\n/>"));
    if (name.size() == text.size() || std::ranges::find(names_, name) == names_.end()) continue;
    result += name;
    if (text.substr(0, text.find_first_of("<>")).find("translate=") == text.npos) result += mark_;
    text.remove_prefix(name.size());
  }
  return result;
}

std::string IgnoredTags::unmarked(std::string text) const {
  if (mark_.empty()) return text;
  for (size_t at = 0; (at = text.find(mark_, at)) != text.npos;) text.erase(at, mark_.size());
  return text;
}

}  // namespace dragoman::internal
