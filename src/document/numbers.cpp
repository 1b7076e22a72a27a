#include "document/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

struct Number {
  TextSpan place;
  std::string digits;  // without separators, in ASCII
};

struct Character {
  UChar32 code;
  size_t end;
};

Character at(std::string_view text, size_t begin) {
  auto next = static_cast<int32_t>(begin);
  UChar32 c = -1;
  if (begin < text.size()) U8_NEXT(text.data(), next, static_cast<int32_t>(text.size()), c);
  return {c, static_cast<size_t>(next)};
}

int digit(UChar32 c) { return c < 0 ? -1 : u_charDigitValue(c); }

bool is_space_of_number(UChar32 c) { return c == ' ' || c == 0xA0 || c == 0x2009 || c == 0x202F; }

// Whether digits follow that this separator may group with those before: after a space exactly three.
bool divides(std::string_view text, size_t begin) {
  const Character separator = at(text, begin);
  const bool space = is_space_of_number(separator.code);
  if (!space && separator.code != '.' && separator.code != ',' && separator.code != '\'' &&
      separator.code != 0x2019)
    return false;
  size_t count = 0, place = separator.end;
  for (Character c = at(text, place); digit(c.code) >= 0; c = at(text, place)) {
    ++count;
    place = c.end;
  }
  return space ? count == 3 : count > 0;
}

std::vector<Number> find_numbers(std::string_view text) {
  std::vector<Number> numbers;
  for (size_t place = 0; place < text.size();) {
    Character c = at(text, place);
    if (digit(c.code) < 0) {
      place = c.end;
      continue;
    }
    Number number{.place = {place, place}, .digits = {}};
    for (;; c = at(text, place)) {
      if (const int value = digit(c.code); value >= 0) {
        number.digits += static_cast<char>('0' + value);
        number.place.end = place = c.end;
      } else if (divides(text, place)) {
        place = c.end;
      } else {
        break;
      }
    }
    numbers.push_back(std::move(number));
  }
  return numbers;
}

// "3 pm", "3:30 a.m."
bool is_of_half_day(std::string_view text, TextSpan number) {
  constexpr size_t longest = 16;
  std::string_view rest = text.substr(number.end, longest);
  if (rest.size() > 2 && rest[0] == ':' && digit(static_cast<unsigned char>(rest[1])) >= 0)
    rest.remove_prefix(3);
  while (!rest.empty() && (rest[0] == ' ' || digit(static_cast<unsigned char>(rest[0])) >= 0))
    rest.remove_prefix(1);
  if (rest.empty() || std::string_view("aApP").find(rest[0]) == std::string_view::npos) return false;
  rest.remove_prefix(rest.substr(1).starts_with('.') ? 2 : 1);
  if (!rest.starts_with('m') && !rest.starts_with('M')) return false;
  return rest.size() == 1 || !is_letter(rest[1]);
}

// The hour of a day; -1: the number cannot be one.
int hour_of(const Number& number) {
  int hour = -1;
  if (number.digits.size() < 3)
    std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), hour);
  return hour <= 24 ? hour : -1;
}

using Counts = std::unordered_map<std::string, size_t>;  // by digits

Counts counts_of(const std::vector<Number>& numbers) {
  Counts counts;
  for (const Number& number : numbers) ++counts[number.digits];
  return counts;
}

// Removes the first ones, as many of each as are counted.
void remove_counted(std::vector<Number>& numbers, Counts counts) {
  std::erase_if(numbers, [&](const Number& number) {
    const auto left = counts.find(number.digits);
    if (left == counts.end() || left->second == 0) return false;
    --left->second;
    return true;
  });
}

}  // namespace

std::vector<TextSpan> changed_numbers(std::string_view source, std::string_view translation) {
  std::vector<Number> missing = find_numbers(source), extra = find_numbers(translation);
  const Counts in_source = counts_of(missing), in_translation = counts_of(extra);
  remove_counted(missing, in_translation);
  remove_counted(extra, in_source);
  // Hours agree across clocks of 12 and of 24 hours: 3 pm and 15, 12 am and 0.
  std::array<size_t, 12> halves = {}, wholes = {};  // of the translation, by hour
  for (const Number& number : extra) {
    const int hour = hour_of(number);
    if (hour < 0) continue;
    auto& hours = is_of_half_day(translation, number.place) ? halves : wholes;
    ++hours[static_cast<size_t>(hour % 12)];
  }
  size_t others = extra.size();
  std::erase_if(missing, [&](const Number& number) {
    const bool is_time = is_of_half_day(source, number.place);
    const int hour = hour_of(number);
    if (hour < 0) return is_time;
    const auto place = static_cast<size_t>(hour % 12);
    size_t& same = is_time && wholes[place] > 0 ? wholes[place] : halves[place];
    if (same == 0) return is_time;
    --same;
    --others;
    return true;
  });
  std::vector<TextSpan> changed;
  for (const Number& number : missing) {
    if (number.digits.size() > 1 || others > 0) changed.push_back(number.place);
  }
  return changed;
}

}  // namespace dragoman::internal
