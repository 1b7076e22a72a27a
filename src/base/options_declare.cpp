// How options of each type are declared.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/options.h"
#include "base/parse_number.h"

namespace dragoman::internal {
namespace {

// A single number is a list of one; older recipes and configurations have numbers as strings.
std::optional<std::vector<double>> numbers_in(const OptionValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  if (const auto* whole = std::get_if<int64_t>(&value)) return {{static_cast<double>(*whole)}};
  if (const auto* real = std::get_if<double>(&value)) return {{*real}};
  std::vector<std::string> texts;
  if (const auto* text = std::get_if<std::string>(&value)) texts = {*text};
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) texts = *list;
  if (std::holds_alternative<bool>(value)) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    const auto number = parse_number<double>(text);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// 3, and also 3.0 or 3e0.
std::optional<int64_t> whole_number_in(const OptionValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  const auto* real = std::get_if<double>(&value);
  constexpr double exact = 0x1p53;
  if (!real || std::abs(*real) > exact || *real != std::floor(*real)) return std::nullopt;
  return static_cast<int64_t>(*real);
}

}  // namespace

Section Options::section(const std::string& name, const std::string& title) {
  sections_.emplace_back(name, title);
  return Section(*this, name);
}

Declaration Section::add_option(Option option) {
  option.section = name_;
  option.default_value = option.get();
  option.may_change_on_resume = may_change_on_resume_;
  CHECK(!options_.find(option.key()), "option {} is declared twice", option.key());
  options_.options_.push_back(std::move(option));
  return Declaration(options_, options_.options_.size() - 1);
}

Section& Section::may_change_on_resume() {
  may_change_on_resume_ = true;
  return *this;
}

Declaration& Declaration::may_change_on_resume() {
  option().may_change_on_resume = true;
  return *this;
}

Declaration& Declaration::formerly(const std::string& name) {
  option().former_name = name;
  CHECK(options_.find(option().former_key()) == &option(), "option {} is declared twice",
        option().former_key());
  return *this;
}

Declaration& Declaration::also(const char* key) {
  CHECK(options_.find(key) == nullptr, "option {} is declared twice", key);
  option().short_key = key;
  return *this;
}

Declaration& Declaration::shows(const char* kind) {
  option().kind = option().is_list() ? fmt::format("{0},{0},...", kind) : kind;
  return *this;
}

Declaration& Declaration::letter(char c) {
  CHECK(options_.find(c) == nullptr, "-{} is declared twice", c);
  option().letter = c;
  return *this;
}

Declaration& Declaration::historical_default(OptionValue value) {
  option().historical_default = std::move(value);
  return *this;
}

Declaration Section::add(const char* name, bool& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* flag = std::get_if<bool>(&given)) return variable = *flag, true;
    return false;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = "",
                     .expected = "true or false",
                     .is_switch = true,
                     .get = [&variable] { return variable; },
                     .set = set});
}

Declaration Section::add(const char* name, int64_t& variable, const char* help, Range range) {
  const auto set = [&variable, range](const OptionValue& given) {
    const auto whole = whole_number_in(given);
    if (!whole || !range.contains(static_cast<double>(*whole))) return false;
    return variable = *whole, true;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = "N",
                     .expected = "a whole number",
                     .limits = range.text(),
                     .get = [&variable] { return variable; },
                     .set = set});
}

Declaration Section::add(const char* name, int64_t& variable, const char* help, Range range,
                         std::pair<const char*, int64_t> word) {
  const auto get = [&variable, word]() -> OptionValue {
    if (variable == word.second) return std::string(word.first);
    return variable;
  };
  const auto set = [&variable, range, word](const OptionValue& given) {
    if (given == OptionValue(word.first)) return variable = word.second, true;
    const auto whole = whole_number_in(given);
    if (!whole || !range.contains(static_cast<double>(*whole))) return false;
    return variable = *whole, true;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = fmt::format("N|{}", word.first),
                     .expected = "a whole number",
                     .limits = fmt::format("{}, or {}", range.text(), word.first),
                     .get = get,
                     .set = set});
}

Declaration Section::add(const char* name, double& variable, const char* help, Range range) {
  const auto set = [&variable, range](const OptionValue& given) {
    const auto* whole = std::get_if<int64_t>(&given);
    const auto* real = std::get_if<double>(&given);
    if (!whole && !real) return false;
    const double value = whole ? static_cast<double>(*whole) : *real;
    if (!std::isfinite(value) || !range.contains(value)) return false;
    return variable = value, true;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = "X",
                     .expected = "a number",
                     .limits = range.text(),
                     .get = [&variable] { return variable; },
                     .set = set});
}

Declaration Section::add(const char* name, std::string& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* text = std::get_if<std::string>(&given)) return variable = *text, true;
    return false;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = "TEXT",
                     .expected = "a string",
                     .get = [&variable] { return variable; },
                     .set = set});
}

Declaration Section::add(const char* name, std::string& variable, const char* help, const TextRule& rule) {
  const auto set = [&variable, allows = rule.allows](const OptionValue& given) {
    const auto* text = std::get_if<std::string>(&given);
    if (!text || !allows(*text)) return false;
    return variable = *text, true;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = rule.kind,
                     .expected = rule.expected,
                     .get = [&variable] { return variable; },
                     .set = set});
}

Declaration Section::add(const char* name, std::vector<std::string>& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&given)) return variable = *list, true;
    if (const auto* item = std::get_if<std::string>(&given)) return variable = {*item}, true;
    return false;
  };
  return add_option({.name = name,
                     .help = help,
                     .kind = "A,B,...",
                     .expected = "a string or a list of strings",
                     .get = [&variable] { return variable; },
                     .set = set});
}

template <typename Number>
Declaration Section::add_numbers(const char* name, std::vector<Number>& variable, const char* help,
                                 Range each) {
  const auto get = [&variable]() -> OptionValue {
    return std::vector<double>(variable.begin(), variable.end());
  };
  const auto set = [&variable, each](const OptionValue& given) {
    const auto numbers = numbers_in(given);
    const auto fits = [&](double number) {
      const bool whole = number == std::floor(number) && std::abs(number) <= 0x1p53;
      return std::isfinite(number) && each.contains(number) && (whole || !std::is_integral_v<Number>);
    };
    if (!numbers || !std::ranges::all_of(*numbers, fits)) return false;
    variable.clear();
    for (const double number : *numbers) variable.push_back(static_cast<Number>(number));
    return true;
  };
  const std::string limits = each.text();
  return add_option({.name = name,
                     .help = help,
                     .kind = std::is_integral_v<Number> ? "N,N,..." : "X,X,...",
                     .expected = std::is_integral_v<Number> ? "a list of whole numbers" : "a list of numbers",
                     .limits = limits.empty() ? "" : "each " + limits,
                     .get = get,
                     .set = set});
}

Declaration Section::add(const char* name, std::vector<double>& variable, const char* help, Range each) {
  return add_numbers(name, variable, help, each);
}

Declaration Section::add(const char* name, std::vector<int64_t>& variable, const char* help, Range each) {
  return add_numbers(name, variable, help, each);
}

Declaration Section::add_choice(const char* name, const char* help, const std::vector<std::string>& texts,
                                std::function<OptionValue()> get,
                                std::function<bool(const OptionValue&)> set) {
  return add_option(
      {.name = name,
       .help = help,
       .kind = fmt::format("{}", fmt::join(texts, "|")),
       .expected = fmt::format("{}{}", texts.size() > 1 ? "one of " : "", fmt::join(texts, ", ")),
       .get = std::move(get),
       .set = std::move(set)});
}

}  // namespace dragoman::internal
