#include "base/options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/quotes.h"

namespace dragoman::internal {
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
  const bool low = min_included ? value >= min : value > min;
  const bool high = max_included ? value <= max : value < max;
  return low && high;
}

std::string Range::text() const {
  std::string low = fmt::format("{} {}", min_included ? "at least" : "above", number_text(min));
  std::string high = fmt::format("{} {}", max_included ? "at most" : "below", number_text(max));
  if (min == -infinity && max == infinity) return "";
  if (min == -infinity) return high;
  if (max == infinity) return low;
  if (!min_included || !max_included) return low + " and " + high;
  return fmt::format("{} to {}", number_text(min), number_text(max));
}

Range any_number() { return {-infinity, infinity}; }
Range at_least(double limit) { return {limit, infinity}; }
Range above(double limit) { return {limit, infinity, false}; }

std::string to_text(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
  std::vector<std::string> items;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *texts) items.push_back('"' + item + '"');
  } else {
    for (const double item : std::get<std::vector<double>>(value)) items.push_back(number_text(item));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool Option::is_list() const {
  return std::holds_alternative<std::vector<std::string>>(default_value) ||
         std::holds_alternative<std::vector<double>>(default_value);
}

// A typing error in the key, or the right name in the wrong section.
std::string Options::suggestion(const std::string& key) const {
  CHECK(!options_.empty());
  const std::string name = key.substr(key.find('.') + 1);
  const auto distance = [&](const Option& option) {
    return std::min(edit_distance(key, option.key()), edit_distance(name, option.name) + 1);
  };
  const auto closer = [&](const Option& a, const Option& b) { return distance(a) < distance(b); };
  const Option& nearest = *std::min_element(options_.begin(), options_.end(), closer);
  return is_near(distance(nearest), key.size()) ? fmt::format("; did you mean {}?", nearest.key()) : "";
}

const Option* Options::find(const std::string& key) const {
  const auto found = std::ranges::find_if(options_, [&](const Option& o) {
    return o.key() == key || (!o.former_name.empty() && o.former_key() == key) ||
           (!o.short_key.empty() && o.short_key == key);
  });
  return found == options_.end() ? nullptr : &*found;
}

const Option* Options::find(char letter) const {
  const auto found = std::ranges::find(options_, letter, &Option::letter);
  return found == options_.end() ? nullptr : &*found;
}

Option& Options::find(const std::string& key, const std::string& place) {
  if (const Option* option = find(key)) return options_[static_cast<size_t>(option - options_.data())];
  throw UsageError("{}: unknown option {}{}", place, shortened(key), suggestion(key));
}

void Options::check_section(const std::string& name, const std::string& place) const {
  std::vector<std::string> names;
  for (const auto& [known, title] : sections_) {
    if (known == name && !name.empty()) return;
    if (!known.empty()) names.push_back("[" + known + "]");
  }
  throw UsageError("{}: unknown table [{}]{}", place, shortened(name),
                   internal::suggestion("[" + name + "]", names));
}

void Options::assign(Option& option, const OptionValue& value, const std::string& place) {
  if (!option.set(value)) {
    throw UsageError("{}: {} is {}, but must be {}", place, option.key(), shortened(to_text(value)),
                     option.must_be());
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

}  // namespace dragoman::internal
