#include "text/word_tokenizer.h"

#include <algorithm>
#include <utility>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// --- Words ------------------------------------------------------------------------------------------

struct Character {
  char32_t value;
  size_t begin;
};

// With a space behind the last one.
std::vector<Character> characters(std::string_view utf8) {
  std::vector<Character> all;
  all.reserve(utf8.size() + 1);
  for (size_t begin = 0, end = 0; begin < utf8.size(); begin = end) {
    UChar32 c;
    U8_NEXT_OR_FFFD(utf8.data(), end, utf8.size(), c);
    all.push_back({static_cast<char32_t>(c), begin});
  }
  all.push_back({U' ', utf8.size()});
  return all;
}

bool is_in(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }
bool is_alphabetic(char32_t c) { return u_isalpha(static_cast<UChar32>(c)) != 0; }
bool is_digit(char32_t c) { return is_number(c); }

// A combining mark, or an invisible character such as a joiner.
bool extends(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & (U_GC_M_MASK | U_GC_CF_MASK)) != 0;
}

bool is_of_word(char32_t c) { return is_alphabetic(c) || is_digit(c) || c == '_' || extends(c); }

// Whether a character that is not a word character continues the word before it.
bool joins(char32_t before, char32_t c, char32_t after) {
  if (!is_of_word(before)) return false;
  if (is_in(c, U"-‐‑")) return after != c;                        // well-known, Vor- und Nachteile
  if (is_in(c, U"'’") && is_in(before, U"sS")) return true;       // years' time
  if (is_in(c, U".'’&@·")) return is_of_word(after);              // U.S, don't, AT&T
  return is_in(c, U",:") && is_digit(before) && is_digit(after);  // 1,000
}

size_t end_of_token(const std::vector<Character>& all, size_t begin) {
  const char32_t first = all[begin].value;
  size_t end = begin + 1;
  const auto at = [&](size_t i) { return all[i].value; };
  const bool negative = first == '-' && is_digit(at(end));
  if (negative || is_of_word(first)) {
    while (end + 1 < all.size() && (is_of_word(at(end)) || joins(at(end - 1), at(end), at(end + 1)))) ++end;
    return end;
  }
  while (is_in(first, U".-") && at(end) == first) ++end;
  while (extends(at(end))) ++end;
  return end;
}

// --- Spaces -----------------------------------------------------------------------------------------

constexpr std::u32string_view no_space_before = U",.;:!?…%‰°)]}/", no_space_after = U"([{¿¡#@/";

// Each opening quotation mark, with those that close it.
constexpr std::pair<char32_t, std::u32string_view> quotes[] = {
    {U'"', U"\""}, {U'\'', U"'"}, {U'„', U"“”"}, {U'‚', U"‘’"}, {U'“', U"”"},
    {U'‘', U"’"},  {U'«', U"»"},  {U'»', U"«"},  {U'‹', U"›"},  {U'›', U"‹"}};

bool closes(char32_t opening, char32_t c) {
  const auto* const quote =
      std::ranges::find(quotes, opening, &std::pair<char32_t, std::u32string_view>::first);
  return is_in(c, quote->second);
}

bool is_currency(char32_t c) { return u_charType(static_cast<UChar32>(c)) == U_CURRENCY_SYMBOL; }

}  // namespace

std::vector<TextSpan> tokenize_words(std::string_view utf8) {
  const std::vector<Character> all = characters(utf8);
  std::vector<TextSpan> words;
  for (size_t begin = 0; begin + 1 < all.size();) {
    if (is_space(all[begin].value)) {
      ++begin;
      continue;
    }
    const size_t end = end_of_token(all, begin);
    words.push_back({all[begin].begin, all[end].begin});
    begin = end;
  }
  return words;
}

WordSpacing::Quote WordSpacing::quote(char32_t c) {
  const auto open = std::ranges::find_if(open_quotes_, [&](char32_t opening) { return closes(opening, c); });
  if (open != open_quotes_.end()) {
    open_quotes_.erase(open, open_quotes_.end());
    return Quote::closes;
  }
  if (is_in(c, U"”’")) return Quote::closes;
  if (!std::ranges::count(quotes, c, &std::pair<char32_t, std::u32string_view>::first)) return Quote::none;
  open_quotes_.push_back(c);
  return Quote::opens;
}

bool WordSpacing::space_before(std::string_view word) {
  if (word.empty()) return false;
  const std::vector<Character> all = characters(word);
  const char32_t first = all.front().value;
  const bool is_mark = !is_of_word(first) && end_of_token(all, 0) + 1 == all.size();
  const bool attached = attaches_next_ || (attaches_number_ && is_digit(first));
  const Quote quoting = is_mark ? quote(first) : Quote::none;
  attaches_next_ = quoting == Quote::opens || (is_mark && is_in(first, no_space_after));
  attaches_number_ = is_mark && is_currency(first);
  return !attached && quoting != Quote::closes && !(is_mark && is_in(first, no_space_before));
}

}  // namespace dragoman::internal
