#include "base/options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/nearest.h"

namespace dragoman {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// "2e-05" → "2e-5"
std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  const size_t zero = text.find("e-0");
  if (zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

}  // namespace

bool Range::contains(double value) const {
  const bool low = min_included ? value >= least : value > least;
  const bool high = max_included ? value <= most : value < most;
  return low && high;
}

std::string Range::text() const {
  std::string low = fmt::format("{} {}", min_included ? "at least" : "above", number_text(least));
  std::string high = fmt::format("{} {}", max_included ? "at most" : "below", number_text(most));
  if (least == -infinity && most == infinity) return "";
  if (least == -infinity) return high;
  if (most == infinity) return low;
  if (!min_included || !max_included) return low + " and " + high;
  return fmt::format("{} to {}", number_text(least), number_text(most));
}

Range any_number() { return {-infinity, infinity}; }
Range at_least(double limit) { return {limit, infinity}; }
Range above(double limit) { return {limit, infinity, false}; }

std::string to_text(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  std::string list;
  for (const std::string& item : std::get<std::vector<std::string>>(value)) {
    list += (list.empty() ? "\"" : ", \"") + item + '"';
  }
  return "[" + list + "]";
}

// --- Declaring ------------------------------------------------------------------------------------

Section Options::section(const std::string& name, const std::string& title) {
  sections_.emplace_back(name, title);
  return Section(*this, name);
}

void Section::add_option(Option option) {
  option.section = name_;
  option.default_value = option.get();
  for (const Option& other : options_.options_) {
    CHECK(other.key() != option.key(), "option {} is declared twice", option.key());
  }
  options_.options_.push_back(std::move(option));
}

void Section::add(const char* name, bool& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* flag = std::get_if<bool>(&given)) return variable = *flag, true;
    return false;
  };
  add_option({.name = name,
              .help = help,
              .kind = "",
              .expected = "true or false",
              .is_flag = true,
              .get = [&variable] { return variable; },
              .set = set});
}

void Section::add(const char* name, int64_t& variable, const char* help, Range range) {
  const auto set = [&variable, range](const OptionValue& given) {
    const auto* whole = std::get_if<int64_t>(&given);
    if (!whole || !range.contains(static_cast<double>(*whole))) return false;
    return variable = *whole, true;
  };
  add_option({.name = name,
              .help = help,
              .kind = "N",
              .expected = "a whole number",
              .limits = range.text(),
              .get = [&variable] { return variable; },
              .set = set});
}

void Section::add(const char* name, int64_t& variable, const char* help, Range range,
                  std::pair<const char*, int64_t> word) {
  const auto get = [&variable, word]() -> OptionValue {
    if (variable == word.second) return std::string(word.first);
    return variable;
  };
  const auto set = [&variable, range, word](const OptionValue& given) {
    if (given == OptionValue(word.first)) return variable = word.second, true;
    const auto* whole = std::get_if<int64_t>(&given);
    if (!whole || !range.contains(static_cast<double>(*whole))) return false;
    return variable = *whole, true;
  };
  add_option({.name = name,
              .help = help,
              .kind = fmt::format("N|{}", word.first),
              .expected = "a whole number",
              .limits = fmt::format("{}, or {}", range.text(), word.first),
              .get = get,
              .set = set});
}

void Section::add(const char* name, double& variable, const char* help, Range range) {
  const auto set = [&variable, range](const OptionValue& given) {
    const auto* whole = std::get_if<int64_t>(&given);
    const auto* real = std::get_if<double>(&given);
    if (!whole && !real) return false;
    const double value = whole ? static_cast<double>(*whole) : *real;
    if (!std::isfinite(value) || !range.contains(value)) return false;
    return variable = value, true;
  };
  add_option({.name = name,
              .help = help,
              .kind = "X",
              .expected = "a number",
              .limits = range.text(),
              .get = [&variable] { return variable; },
              .set = set});
}

void Section::add(const char* name, std::string& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* text = std::get_if<std::string>(&given)) return variable = *text, true;
    return false;
  };
  add_option({.name = name,
              .help = help,
              .kind = "TEXT",
              .expected = "a text",
              .get = [&variable] { return variable; },
              .set = set});
}

void Section::add(const char* name, std::vector<std::string>& variable, const char* help) {
  const auto set = [&variable](const OptionValue& given) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&given)) return variable = *list, true;
    if (const auto* item = std::get_if<std::string>(&given)) return variable = {*item}, true;
    return false;
  };
  add_option({.name = name,
              .help = help,
              .kind = "A,B,...",
              .expected = "a text or a list of texts",
              .get = [&variable] { return variable; },
              .set = set});
}

void Section::add_choice(const char* name, const char* help, const std::vector<std::string>& texts,
                         std::function<OptionValue()> get, std::function<bool(const OptionValue&)> set) {
  add_option({.name = name,
              .help = help,
              .kind = fmt::format("{}", fmt::join(texts, "|")),
              .expected = fmt::format("{}{}", texts.size() > 1 ? "one of " : "", fmt::join(texts, ", ")),
              .get = std::move(get),
              .set = std::move(set)});
}

// --- Setting --------------------------------------------------------------------------------------

// Few letters amiss in the whole key, or the right name in another section.
const Option& Options::nearest_option(const std::string& key) const {
  CHECK(!options_.empty());
  const std::string name = key.substr(key.find('.') + 1);
  const auto distance = [&](const Option& option) {
    return std::min(edit_distance(key, option.key()), edit_distance(name, option.name) + 1);
  };
  const auto closer = [&](const Option& a, const Option& b) { return distance(a) < distance(b); };
  return *std::min_element(options_.begin(), options_.end(), closer);
}

Option& Options::find(const std::string& key, const std::string& place) {
  for (Option& option : options_) {
    if (option.key() == key) return option;
  }
  throw UsageError("{}: there is no option {}; the nearest one is {}", place, key, nearest_option(key).key());
}

void Options::check_section(const std::string& name, const std::string& place) const {
  std::vector<std::string> names;
  for (const auto& [known, title] : sections_) {
    if (known == name && !name.empty()) return;
    if (!known.empty()) names.push_back(known);
  }
  throw UsageError("{}: there is no table [{}]; the nearest one is [{}]", place, name, nearest(name, names));
}

void Options::assign(Option& option, const OptionValue& value, const std::string& place) {
  if (!option.set(value)) {
    throw UsageError("{}: {} is {}, but must be {}", place, option.key(), to_text(value), option.must_be());
  }
  option.origin = place;
}

bool Options::is_given(const std::string& key) const {
  const auto option = std::ranges::find(options_, key, &Option::key);
  CHECK(option != options_.end(), "there is no option {}", key);
  return !option->origin.empty();
}

void Options::check_values() const {
  for (const Option& option : options_) {
    const OptionValue value = option.get();
    if (!option.set(value)) {
      throw OptionError(option.key(), fmt::format("is {}, but must be {}", to_text(value), option.must_be()));
    }
  }
}

void Options::check(const std::function<void()>& validate) const {
  try {
    validate();
  } catch (const OptionError& error) {
    for (const Option& option : options_) {
      if (option.key() == error.key && !option.origin.empty()) {
        throw UsageError("{}: {}", option.origin, error.what());
      }
    }
    throw;
  }
}

}  // namespace dragoman
