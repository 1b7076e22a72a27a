// Options in print: the help of a command, the tables of the documentation.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/options.h"

namespace dragoman::internal {
namespace {

constexpr size_t page_width = 100;
constexpr size_t help_column = 36;

// "[512, at least 1]": the default as a flag would have it, and the range, where there are any.
std::string default_and_range(const Option& option) {
  const OptionValue& given = option.default_value;
  std::string value;
  if (const auto* text = std::get_if<std::string>(&given)) {
    value = *text;
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&given)) {
    value = fmt::format("{}", fmt::join(*texts, ","));
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&given)) {
    value = fmt::format("{}", fmt::join(*numbers, ","));
  } else if (!std::holds_alternative<bool>(given)) {
    value = to_text(given);
  }
  if (!option.limits.empty()) value += (value.empty() ? "" : ", ") + option.limits;
  return value.empty() ? "" : "[" + value + "]";
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The words from help_column on, in as many lines as they take. `column` is where the first line stands now.
std::string wrapped(const std::vector<std::string>& words, size_t column) {
  const std::string new_line = "\n" + std::string(help_column, ' ');
  std::string lines = column + 2 > help_column ? new_line : std::string(help_column - column, ' ');
  column = help_column;
  for (const std::string& word : words) {
    if (column > help_column && column + 1 + word.size() > page_width) {
      lines += new_line;
      column = help_column;
    }
    lines += (column > help_column ? " " : "") + word;
    column += (column > help_column ? 1 : 0) + word.size();
  }
  return lines + "\n";
}

std::string entry(const std::string& name, const std::vector<std::string>& words) {
  const std::string begin = "  " + name;
  return begin + wrapped(words, begin.size());
}

// "-m, --model"; of a switch that is on by default also how it is turned off.
std::string flag_name(const Option& option) {
  const std::string letter = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "";
  const bool on = option.is_switch && option.default_value == OptionValue(true);
  const std::string also = option.short_key.empty() ? "" : fmt::format("--{}, ", option.short_key);
  return letter + also + (on ? "--[no-]" : "--") + option.key();
}

// What is in brackets stays together, unless it is longer than a line.
std::string flag_line(const Option& option) {
  const std::string brackets = default_and_range(option);
  std::vector<std::string> words = words_of(option.help);
  const bool fits = !brackets.empty() && help_column + brackets.size() <= page_width;
  for (const std::string& part : fits ? std::vector{brackets} : words_of(brackets)) words.push_back(part);
  return entry(flag_name(option) + (option.kind.empty() ? "" : " " + option.kind), words);
}

// A cell of a table: neither a column's end nor a tag.
std::string cell(const std::string& text) { return escaped(text, {{'|', "\\|"}, {'<', "&lt;"}}); }

}  // namespace

std::string help_line(const std::string& name, const std::string& help) {
  return entry(name, words_of(help));
}

std::string Options::help() const {
  std::string text;
  for (const auto& [section, title] : sections_) {
    text += section.empty() ? title + "\n" : fmt::format("[{}] {}\n", section, title);
    for (const Option& option : options_) {
      if (option.section == section) text += flag_line(option);
    }
    text += "\n";
  }
  return text;
}

std::string Options::markdown() const {
  std::string text;
  for (const auto& [section, title] : sections_) {
    if (!section.empty()) text += fmt::format("## `[{}]` {}\n\n{}\n", section, title, markdown(section));
  }
  return text;
}

std::string Options::markdown(const std::string& section) const {
  std::string text = "| option | default | value | description |\n|---|---|---|---|\n";
  for (const Option& option : options_) {
    if (option.section != section) continue;
    text += fmt::format("| `{}{}` | `{}` | {} | {} |\n", section.empty() ? "--" : "", option.name,
                        to_text(option.default_value), cell(option.must_be()), cell(option.help));
  }
  return text;
}

const std::string& Options::title(const std::string& section) const {
  const auto found = std::ranges::find(sections_, section, &std::pair<std::string, std::string>::first);
  CHECK(found != sections_.end(), "{}", section);
  return found->second;
}

}  // namespace dragoman::internal
