#include "data/clean/numbers.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include <unicode/uchar.h>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

struct WrittenNumber {
  std::string digits;    // in ASCII, without separators
  bool grouped = false;  // there was one
};

int digit_value(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  return u_charDigitValue(static_cast<UChar32>(c));
}

// Whether digits follow that this separator may join to those before: after a space exactly three.
bool joins_digits(std::u32string_view text, size_t place) {
  const char32_t separator = text[place];
  const bool space = separator == ' ' || separator == 0xA0 || separator == 0x2009 || separator == 0x202F;
  if (!space && separator != '.' && separator != ',' && separator != '\'' && separator != 0x2019 &&
      separator != 0x66B && separator != 0x66C)
    return false;
  size_t end = place + 1;
  while (end < text.size() && digit_value(text[end]) >= 0) ++end;
  return space ? end - place == 4 : end > place + 1;
}

std::vector<WrittenNumber> numbers_in(std::string_view text) {
  std::vector<WrittenNumber> numbers;
  if (std::ranges::none_of(text, [](char c) { return (c >= '0' && c <= '9') || (c & 0x80) != 0; }))
    return numbers;
  const std::u32string characters = code_points(text);
  for (size_t place = 0; place < characters.size(); ++place) {
    if (digit_value(characters[place]) < 0) continue;
    WrittenNumber number;
    for (; place < characters.size(); ++place) {
      const int value = digit_value(characters[place]);
      if (value >= 0)
        number.digits += static_cast<char>('0' + value);
      else if (joins_digits(characters, place))
        number.grouped = true;
      else
        break;
    }
    numbers.push_back(std::move(number));
  }
  return numbers;
}

std::string_view without_zeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  if (first == digits.npos) return "0";
  return digits.substr(first, digits.find_last_not_of('0') + 1 - first);
}

// The hour of a clock with 12 hours, and that with 24.
bool is_half_day_later(const std::string& hour, const std::string& later) {
  const auto value = [](const std::string& digits) {
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  };
  return hour.size() <= 2 && later.size() == 2 && value(hour) < 12 && value(hour) + 12 == value(later);
}

bool lacks_century(const std::string& year, const std::string& of_century) {
  return year.size() == 4 && of_century.size() == 2 && year.ends_with(of_century);
}

bool may_be_equal(const WrittenNumber& a, const WrittenNumber& b) {
  const std::string_view left = without_zeros(a.digits), right = without_zeros(b.digits);
  if (left == right) {
    constexpr size_t thousand = 3;
    const auto [shorter, longer] = std::minmax({a.digits.size(), b.digits.size()});
    return longer == shorter || longer - shorter >= thousand || a.grouped || b.grouped;
  }
  return is_half_day_later(a.digits, b.digits) || is_half_day_later(b.digits, a.digits) ||
         lacks_century(a.digits, b.digits) || lacks_century(b.digits, a.digits);
}

std::string all_digits(const std::vector<WrittenNumber>& numbers) {
  std::string digits;
  for (const WrittenNumber& number : numbers) digits += number.digits;
  return digits;
}

// Three digits and more that are no round number.
bool is_never_in_words(const WrittenNumber& number) {
  constexpr size_t shortest = 3;
  return number.digits.size() >= shortest && without_zeros(number.digits).size() >= shortest;
}

}  // namespace

bool numbers_differ(std::string_view source, std::string_view target) {
  std::vector<WrittenNumber> missing = numbers_in(source), extra = numbers_in(target);
  if ((missing.empty() && extra.empty()) || all_digits(missing) == all_digits(extra)) return false;
  const auto take_pairs = [&](auto same) {
    std::erase_if(missing, [&](const WrittenNumber& number) {
      const auto found =
          std::ranges::find_if(extra, [&](const WrittenNumber& other) { return same(number, other); });
      if (found == extra.end()) return false;
      extra.erase(found);
      return true;
    });
  };
  take_pairs([](const WrittenNumber& a, const WrittenNumber& b) { return a.digits == b.digits; });
  take_pairs(may_be_equal);
  if (!missing.empty() && !extra.empty()) return true;
  return std::ranges::any_of(missing, is_never_in_words) || std::ranges::any_of(extra, is_never_in_words);
}

}  // namespace dragoman::internal
