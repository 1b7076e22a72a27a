#include "text/tags.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::array<Tag, 8> tags_around = {{{"<b>", "</b>"},
                                             {"<i>", "</i>"},
                                             {"<em>", "</em>"},
                                             {"<strong>", "</strong>"},
                                             {"<span>", "</span>"},
                                             {"<a>", "</a>"},
                                             {"<g id=\"1\">", "</g>"},
                                             {"<1>", "</1>"}}};
constexpr std::array<std::string_view, 3> tags_alone = {"<br/>", "<x id=\"1\"/>", "<1/>"};

// A word without the marks around it, where it is a name or a number; else nothing. Other words that look alike may
// have nothing to do with one another: "on", "a", "pain".
std::string_view name_in(std::string_view word) {
  constexpr size_t shortest_name = 3;
  const std::string_view name = bare_word(word);
  if (name.empty() || !is_plain_word(word)) return {};
  const std::u32string characters = code_points(name);
  const bool is_name = is_upper(characters.front()) && characters.size() >= shortest_name;
  return is_name || is_number(characters.front()) ? name : std::string_view();
}

// The names and numbers of a text as views into it, in its order.
std::vector<std::string_view> names_in(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  std::vector<std::string_view> names;
  for (size_t begin = text.find_first_not_of(spaces); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    if (const auto name = name_in(text.substr(begin, end - begin)); !name.empty()) names.push_back(name);
    begin = text.find_first_not_of(spaces, end);
  }
  return names;
}

// Those that a text has once, and where.
std::unordered_map<std::string_view, TextSpan> single_names(std::string_view text) {
  std::unordered_map<std::string_view, int> counts;
  const std::vector<std::string_view> names = names_in(text);
  for (const std::string_view name : names) ++counts[name];
  std::unordered_map<std::string_view, TextSpan> single;
  for (const std::string_view name : names) {
    const auto begin = static_cast<size_t>(name.data() - text.data());
    if (counts[name] == 1) single[name] = {begin, begin + name.size()};
  }
  return single;
}

}  // namespace

bool is_plain_word(std::string_view word) {
  return word.find_first_of("{}<>%$@_\\") == word.npos && word.find("://") == word.npos &&
         !word.starts_with("www.");
}

std::string_view bare_word(std::string_view word) {
  const std::u32string characters = code_points(word);
  const auto is_mark = [](char32_t c) { return !is_letter(c) && !is_number(c); };
  size_t begin = 0, end = characters.size();
  while (begin < end && is_mark(characters[begin])) ++begin;
  while (begin < end && is_mark(characters[end - 1])) --end;
  const std::vector<size_t> offsets = code_point_offsets(word);
  return word.substr(offsets[begin], offsets[end] - offsets[begin]);
}

bool has_markup(std::string_view text) { return text.find('<') != text.npos; }

DrawnTag draw_tag(Random& random) {
  const Tag around = tags_around[random.below(tags_around.size())];
  switch (random.below(3)) {
    case 0:
      return {.tag = around};
    case 1: {
      const std::string_view alone = tags_alone[random.below(tags_alone.size())];
      return {.tag = random.below(2) == 0 ? Tag{alone, ""} : Tag{"", alone}};
    }
    default:
      return {.tag = around, .around_words = true};
  }
}

std::string with_tag(std::string text, TextSpan part, const Tag& tag) {
  text.insert(part.end, tag.close);
  text.insert(part.begin, tag.open);
  return text;
}

void add_tags(std::string& source, std::span<std::string> targets, Random& random) {
  if (has_markup(source) || std::ranges::any_of(targets, has_markup)) return;
  const DrawnTag drawn = draw_tag(random);
  std::vector<TextSpan> parts = {{0, source.size()}};
  for (const std::string& target : targets) parts.push_back({0, target.size()});
  if (drawn.around_words) {
    std::vector<std::unordered_map<std::string_view, TextSpan>> names = {single_names(source)};
    for (const std::string& target : targets) names.push_back(single_names(target));
    std::vector<std::string_view> shared = names_in(source);
    std::erase_if(shared, [&](std::string_view name) {
      return !std::ranges::all_of(names, [&](const auto& of_text) { return of_text.contains(name); });
    });
    if (!shared.empty()) {
      const std::string_view chosen = shared[random.below(shared.size())];
      for (size_t i = 0; i < parts.size(); ++i) parts[i] = names[i].at(chosen);
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = with_tag(targets[i], parts[i + 1], drawn.tag);
  source = with_tag(source, parts[0], drawn.tag);
}

}  // namespace dragoman::internal
