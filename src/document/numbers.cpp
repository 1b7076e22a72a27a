#include "document/numbers.h"

#include <algorithm>
#include <charconv>
#include <string>

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

// If one of them is of half a day: 3 and 15, 12 and 0.
bool is_same_hour(const Number& a, const Number& b) {
  return hour_of(a) >= 0 && hour_of(b) >= 0 && hour_of(a) % 12 == hour_of(b) % 12;
}

}  // namespace

std::vector<TextSpan> changed_numbers(std::string_view source, std::string_view translation) {
  std::vector<Number> missing = find_numbers(source), extra = find_numbers(translation);
  std::erase_if(missing, [&](const Number& number) {
    const auto same = std::ranges::find(extra, number.digits, &Number::digits);
    const bool found = same != extra.end();
    if (found) extra.erase(same);
    return found;
  });
  std::erase_if(missing, [&](const Number& number) {
    const bool is_time = is_of_half_day(source, number.place);
    const auto same = std::ranges::find_if(extra, [&](const Number& other) {
      return is_same_hour(number, other) && (is_time || is_of_half_day(translation, other.place));
    });
    const bool found = same != extra.end();
    if (found) extra.erase(same);
    return found || is_time;
  });
  std::vector<TextSpan> changed;
  for (const Number& number : missing) {
    if (number.digits.size() > 1 || !extra.empty()) changed.push_back(number.place);
  }
  return changed;
}

}  // namespace dragoman::internal
