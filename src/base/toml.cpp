#include "base/toml.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr int max_key_parts = 16;

// The index after a string that begins at `begin`, with its quotation mark or three of them. Up to two more that follow
// the last three belong to it.
size_t end_of_string(std::string_view text, size_t begin) {
  const char mark = text[begin];
  const std::string three(3, mark);
  const bool long_string = text.substr(begin).starts_with(three);
  const std::string_view end = long_string ? std::string_view(three) : std::string_view(three).substr(0, 1);
  for (size_t i = begin + end.size(); i < text.size(); ++i) {
    if (text.substr(i).starts_with(end)) {
      i += end.size();
      for (int more = 0; more < 2 && long_string && i < text.size() && text[i] == mark; ++more) ++i;
      return i;
    }
    if (text[i] == '\\' && mark == '"') ++i;
  }
  return text.size();
}

// Refuses keys of too many parts: of dots that nothing but words, strings and blanks stand between.
void check_keys(std::string_view text, const std::string& path) {
  int64_t line = 1;
  int dots = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i);
    } else {
      i = c == '#' ? std::min(text.find('\n', i), text.size()) : i + 1;
    }
    if (c == '.' && ++dots == max_key_parts)
      throw UsageError("{}:{}: a name of more than {} parts cannot be an option", path, line, max_key_parts);
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    line += std::ranges::count(text.substr(begin, i - begin), '\n');
  }
}

}  // namespace

std::string at_line(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}", path, region.begin.line);
}

toml::table parse_toml(const std::string& text, const std::string& path) {
  check_keys(text, path);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}: {}{}", at_line(path, error.source()), std::string(error.description()),
                     path.ends_with(".toml") ? "" : ": is it a recipe, which is a TOML file?");
  }
}

}  // namespace dragoman::internal
