#include "document/rst/titles.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/ascii.h"
#include "document/document.h"

namespace dragoman::internal {
namespace {

// Before a title and after it; no UTF-8 has this byte.
constexpr char title_border = '\xFE';

// Names are the same whatever their case and white space.
std::string name_of(std::string_view text) { return in_lower_case(collapsed(text)); }

// The name that ends before an underscore, as in page_, `the page`_ and `a title <page_>`_; empty: there is none.
std::string_view name_before(std::string_view text) {
  constexpr size_t longest = 200;
  if (text.empty()) return {};
  const std::string_view near = text.substr(text.size() - std::min(text.size(), longest));
  if (text.back() == '`') {
    const size_t begin = near.size() > 1 ? near.rfind('`', near.size() - 2) : near.npos;
    return begin == near.npos ? std::string_view() : near.substr(begin + 1, near.size() - begin - 2);
  }
  const size_t angle = near.rfind('<');
  if (angle != near.npos && near.find_first_of(">`", angle) == near.npos) return near.substr(angle + 1);
  size_t begin = near.size();
  while (begin > 0 && (is_alphanumeric(near[begin - 1]) || near[begin - 1] == '-')) --begin;
  return near.substr(begin);
}

std::set<std::string> references_in(std::string_view file) {
  std::set<std::string> names;
  for (size_t at = file.find('_'); at != file.npos; at = file.find('_', at + 1)) {
    const bool ends = at + 1 == file.size() || (!is_alphanumeric(file[at + 1]) && file[at + 1] != '_');
    if (!ends) continue;
    std::string name = name_of(name_before(file.substr(0, at)));
    if (!name.empty()) names.insert(std::move(name));
  }
  return names;
}

// .. _the name: target
void remove_targets(std::string_view file, std::set<std::string>& names) {
  constexpr std::string_view begin = ".. _";
  for (size_t at = file.find(begin); at != file.npos; at = file.find(begin, at + 1)) {
    const std::string_view rest = file.substr(at + begin.size()), name = rest.substr(0, rest.find('\n'));
    const size_t end = name.starts_with('`') ? name.find("`:") : std::min(name.find(':'), name.size());
    if (end != name.npos) names.erase(name_of(stripped(name.substr(0, end), "` ")));
  }
}

std::string adornment(std::string_view line, size_t before, size_t columns) {
  const std::string_view signs = stripped(line, " \t\r\n");
  if (columns == before || !is_rst_adornment(signs)) return std::string(line);
  const size_t length = signs.size() == before ? columns : std::max(signs.size(), columns);
  return std::string(std::max<size_t>(length, 1), signs[0]);
}

// Where the line begins that a text ends in.
size_t line_begin(std::string_view text) { return text.rfind('\n') + 1; }  // of the first line it is 0

}  // namespace

bool is_rst_adornment(std::string_view text) {
  constexpr std::string_view signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  return !text.empty() && signs.find(text[0]) != signs.npos && text.find_first_not_of(text[0]) == text.npos;
}

size_t rst_columns(std::string_view text) {
  size_t count = 0;
  for (size_t next = 0; next < text.size();) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    if (c < 0 || u_getCombiningClass(c) > 0) continue;
    const int32_t width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    count += width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
  }
  return count;
}

RstTitles::RstTitles(std::string_view file)
    : references_(references_in(file)), line_break_(file.find("\r\n") != file.npos ? "\r\n" : "\n") {
  remove_targets(file, references_);
}

std::string RstTitles::begin(std::string_view title, size_t indent, bool has_line_over) {
  const bool needs_target = references_.erase(name_of(title)) > 0;
  titles_.push_back({std::string(title), indent, has_line_over, needs_target});
  return fmt::format("{0}{1}{0}", title_border, titles_.size() - 1);
}

std::string RstTitles::end() { return {title_border}; }

std::string RstTitles::target_of(const Title& title) const {
  return fmt::format(".. _`{}`:{}{}", title.text, line_break_, line_break_);
}

std::string RstTitles::finish(const std::string& written) const {
  std::string_view file = written;
  std::string result;
  for (size_t at = file.find(title_border); at != file.npos; at = file.find(title_border)) {
    const size_t number = file.find(title_border, at + 1), end = file.find(title_border, number + 1);
    size_t index = 0;
    std::from_chars(file.data() + at + 1, file.data() + number, index);
    const Title& title = titles_.at(index);
    const std::string_view text = file.substr(number + 1, end - number - 1);
    const size_t before = rst_columns(title.text) + title.indent, columns = rst_columns(text) + title.indent;
    result += file.substr(0, at);
    size_t first_line = line_begin(result);
    if (title.has_line_over) {
      const size_t over_end = result.find_last_not_of("\r\n", first_line - 1) + 1;
      first_line = line_begin(std::string_view(result).substr(0, over_end));
      const std::string line = result.substr(first_line, over_end - first_line);
      result.replace(first_line, line.size(), adornment(line, before, columns));
    }
    if (title.needs_target && text != title.text) result.insert(first_line, target_of(title));
    result += text;
    file.remove_prefix(end + 1);
    const size_t line_end = std::min(file.find('\n'), file.size() - 1) + 1;
    result += file.substr(0, line_end);
    file.remove_prefix(line_end);
    const size_t size = std::min(file.find_first_of("\r\n"), file.size());
    result += adornment(file.substr(0, size), before, columns);
    file.remove_prefix(size);
  }
  return result.append(file);
}

}  // namespace dragoman::internal
