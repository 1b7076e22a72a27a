#include "serve/deepl/tags.h"

#include <algorithm>

#include <fmt/format.h>

#include "serve/route.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_names = 500;
constexpr std::string_view mark_begin = " translate=\"no\" data-ignored=\"";

// With the smallest number of which the text has no mark.
std::string new_mark(std::string_view text) {
  std::set<std::string_view> taken;
  for (size_t at = 0; (at = text.find(mark_begin, at)) != text.npos;) {
    at += mark_begin.size();
    taken.insert(text.substr(at, text.find('"', at) - at));
  }
  size_t number = 0;
  while (taken.contains(std::to_string(number))) ++number;
  return fmt::format("{}{}\"", mark_begin, number);
}

}  // namespace

IgnoredTags::IgnoredTags(const std::vector<std::string>& names) {
  for (std::string_view rest : names) {
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) names_.emplace(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      if (names_.size() > max_names)
        throw ServeError(400, fmt::format("Value for 'ignore_tags' has more than {} tags.", max_names));
    }
  }
}

IgnoredTags::MarkedText IgnoredTags::marked(std::string_view text) const {
  if (names_.empty()) return {std::string(text), ""};
  MarkedText result = {"", new_mark(text)};
  while (!text.empty()) {
    const size_t tag = std::min(text.find('<'), text.size() - 1) + 1;
    result.text += text.substr(0, tag);
    text.remove_prefix(tag);
    const size_t end = text.find_first_of(" \t\r\n/><");  // no further than the next tag
    if (end == text.npos || text[end] == '<') continue;
    const std::string_view name = text.substr(0, end);
    if (!names_.contains(name)) continue;
    result.text += name;
    if (text.substr(0, text.find_first_of("<>")).find("translate=") == text.npos) result.text += result.mark;
    text.remove_prefix(name.size());
  }
  return result;
}

std::string IgnoredTags::unmarked(std::string_view text, std::string_view mark) {
  if (mark.empty()) return std::string(text);
  std::string result;
  for (;;) {
    const size_t at = std::min(text.find(mark), text.size());
    result += text.substr(0, at);
    if (at == text.size()) return result;
    text.remove_prefix(at + mark.size());
  }
}

}  // namespace dragoman::internal
