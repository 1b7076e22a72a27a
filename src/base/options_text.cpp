// Options in print: the help of a command, the tables of the documentation.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/options.h"

namespace dragoman {
namespace {

constexpr size_t page_width = 100;
constexpr size_t help_column = 36;

// What stands in brackets behind the help, as a flag would give it: the default, and the range, where there is one.
std::string default_and_range(const Option& option) {
  const OptionValue& given = option.default_value;
  std::string value;
  if (const auto* text = std::get_if<std::string>(&given)) {
    value = *text;
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&given)) {
    value = fmt::format("{}", fmt::join(*list, ","));
  } else {
    value = to_text(given);
  }
  if (!option.limits.empty()) value += (value.empty() ? "" : ", ") + option.limits;
  return value.empty() ? "" : " [" + value + "]";
}

// The text from help_column on, in as many lines as it takes. `column` is where the first line stands now.
std::string wrapped(const std::string& text, size_t column) {
  const std::string new_line = "\n" + std::string(help_column, ' ');
  std::string lines = column + 2 > help_column ? new_line : std::string(help_column - column, ' ');
  column = help_column;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (column > help_column && column + 1 + end - begin > page_width) {
      lines += new_line;
      column = help_column;
    }
    if (column > help_column) {
      lines += ' ';
      ++column;
    }
    lines.append(text, begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return lines + "\n";
}

std::string help_line(const Option& option) {
  const std::string flag =
      fmt::format("  --{}{}{}", option.key(), option.kind.empty() ? "" : " ", option.kind);
  return flag + wrapped(option.help + default_and_range(option), flag.size());
}

}  // namespace

std::string Options::help() const {
  std::string text;
  for (const auto& [section, title] : sections_) {
    text += section.empty() ? title + "\n" : fmt::format("[{}] {}\n", section, title);
    for (const Option& option : options_) {
      if (option.section == section) text += help_line(option);
    }
    text += "\n";
  }
  return text;
}

std::string Options::markdown() const {
  std::string text;
  for (const auto& [section, title] : sections_) {
    text +=
        section.empty() ? fmt::format("## {}\n\n", title) : fmt::format("## `[{}]` {}\n\n", section, title);
    text += "| option | default | value | what it is |\n|---|---|---|---|\n";
    for (const Option& option : options_) {
      if (option.section != section) continue;
      text += fmt::format("| `{}` | `{}` | {} | {} |\n", option.name, to_text(option.default_value),
                          option.must_be(), option.help);
    }
    text += "\n";
  }
  return text;
}

}  // namespace dragoman
