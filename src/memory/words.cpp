#include "memory/words.h"

#include "base/checksum.h"
#include "text/normal_form.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

uint64_t number_of(std::u32string_view word) {
  return hash_of({reinterpret_cast<const char*>(word.data()), word.size() * sizeof(char32_t)});
}

bool is_inside_number(std::u32string_view text, size_t i) {
  const bool separates = text[i] == U'.' || text[i] == U',';
  return separates && i > 0 && i + 1 < text.size() && is_number(text[i - 1]) && is_number(text[i + 1]);
}

}  // namespace

std::vector<uint64_t> memory_words(std::string_view utf8) {
  std::vector<uint64_t> words;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(number_of(word));
    word.clear();
  };
  for (const char32_t c : code_points(composed(utf8))) {
    if (is_of_spaced_word(c)) {
      word += to_lower(c);
      continue;
    }
    end_word();
    if (is_space(c)) continue;
    word = c;
    end_word();
  }
  end_word();
  return words;
}

std::string strict_form(std::string_view utf8) {
  std::string form;
  bool space = false;
  for (const char32_t c : code_points(composed(utf8))) {
    if (is_space(c)) {
      space = !form.empty();
      continue;
    }
    if (space) form += ' ';
    space = false;
    form += to_utf8(c);
  }
  return form;
}

std::string loose_form(std::string_view utf8, bool case_, bool numbers) {
  const std::u32string text = code_points(strict_form(utf8));
  std::string form;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_of_number = !numbers && (is_number(text[i]) || is_inside_number(text, i));
    if (!is_of_number)
      form += to_utf8(case_ ? text[i] : to_lower(text[i]));
    else if (i == 0 || !(is_number(text[i - 1]) || is_inside_number(text, i - 1)))
      form += '0';
  }
  return form;
}

SegmentKey memory_key(std::string_view utf8) {
  const std::string strict = strict_form(utf8);
  return {.loose = static_cast<uint32_t>(hash_of(loose_form(strict, false, false))),
          .strict = static_cast<uint32_t>(hash_of(strict))};
}

}  // namespace dragoman::internal
