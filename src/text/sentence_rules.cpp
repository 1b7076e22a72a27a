#include "text/sentence_rules.h"

#include <algorithm>
#include <map>

#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/utf8.h>

#include "base/error.h"
#include "base/shared_files.h"
#include "base/toml.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr int max_ordinal = 31;  // that of a date; greater numbers are more often counts, and end a sentence

UChar32 first_of(std::string_view text) {
  UChar32 c = 0;
  size_t at = 0;
  if (!text.empty()) U8_NEXT(text.data(), at, text.size(), c);
  return c;
}

std::string_view without_first(std::string_view text) {
  size_t at = 0;
  U8_FWD_1(text.data(), at, text.size());
  return text.substr(at);
}

bool is_opening(UChar32 c) {
  return c == '"' || c == '\'' || (U_GET_GC_MASK(c) & (U_GC_PS_MASK | U_GC_PI_MASK)) != 0;
}

bool is_dash_or_space(UChar32 c) {
  return is_space(static_cast<char32_t>(c)) || (U_GET_GC_MASK(c) & U_GC_PD_MASK) != 0;
}

// As Unicode's rules for sentences see it; scripts without case have no lower case there.
bool breaks_as_lower(UChar32 c) { return u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK) == U_SB_LOWER; }

bool all_digits(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// "J", and letters with stops between them: "U.S", "p.m", "Ph.D".
bool is_initials(std::string_view word) {
  int letters = 0, stops = 0;
  while (!word.empty()) {
    const UChar32 c = first_of(word);
    word = without_first(word);
    if (c == '.' && letters > 0) {
      letters = 0;
      ++stops;
    } else if (!u_isalpha(c) || ++letters > 3) {
      return false;
    }
  }
  return letters > 0 && (stops > 0 || letters == 1);
}

// The last word before the full stop.
std::string_view last_word(std::string_view text) {
  auto begin = static_cast<int32_t>(text.size());
  for (int32_t before = begin; before > 0; begin = before) {
    UChar32 c;
    U8_PREV(text.data(), 0, before, c);
    if (is_space(static_cast<char32_t>(c))) break;
  }
  std::string_view word = text.substr(static_cast<size_t>(begin));
  while (is_opening(first_of(word))) word = without_first(word);
  return word;
}

// In lower case, without the punctuation after it.
std::string first_word(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n,.;:!?)\""));
  std::string lower;
  for (const char32_t c : lower_case(code_points(word))) lower += c == U'’' ? "'" : to_utf8(c);
  return lower;
}

bool has(const std::unordered_set<std::string>& words, std::string_view word) {
  if (words.contains(std::string(word))) return true;
  const UChar32 first = first_of(word);
  if (!u_isupper(first)) return false;
  return words.contains(to_utf8(static_cast<char32_t>(u_tolower(first))) + std::string(without_first(word)));
}

}  // namespace

std::string two_letters(std::string_view language) {
  char code[ULOC_LANG_CAPACITY] = {};
  UErrorCode status = U_ZERO_ERROR;
  uloc_getLanguage(std::string(language).c_str(), code, sizeof code, &status);
  if (U_FAILURE(status)) return "";
  return std::string_view(code) == "no" ? "nb" : code;
}

bool is_language(std::string_view code) { return *uloc_getISO3Language(two_letters(code).c_str()) != '\0'; }

struct AllSentenceRules {
  std::map<std::string, SentenceRules, std::less<>> by_language;

  AllSentenceRules() {
    const toml::table all = parse_toml(std::string(shared_file("sentences.toml")), "share/sentences.toml");
    for (const auto& [language, table] : all) add(std::string(language.str()), *table.as_table());
    SentenceRules& any = by_language.at("any");
    for (const auto& [language, rules] : by_language)
      any.starters_.insert(rules.starters_.begin(), rules.starters_.end());
  }

 private:
  void add(const std::string& language, const toml::table& table) {
    SentenceRules& rules = by_language[language];
    rules.ordinals_ = table["ordinals"].value_or(false);
    for (const auto& [key, words] : {std::pair("never", &rules.never_),
                                     {"number", &rules.number_},
                                     {"perhaps", &rules.perhaps_},
                                     {"starters", &rules.starters_}}) {
      for (const toml::node& word : *table[key].as_array()) words->insert(word.value<std::string>().value());
    }
  }
};

namespace {

const AllSentenceRules& all_rules() {
  static const AllSentenceRules all;
  return all;
}

}  // namespace

const SentenceRules& SentenceRules::of(std::string_view language) {
  const auto& by_language = all_rules().by_language;
  const auto found = by_language.find(two_letters(language));
  return found != by_language.end() ? found->second : by_language.at("any");
}

bool SentenceRules::join(std::string_view left, std::string_view right) const {
  std::string_view after_dashes = right;
  while (is_dash_or_space(first_of(after_dashes))) after_dashes = without_first(after_dashes);
  if (breaks_as_lower(first_of(after_dashes))) return true;  // "What?" he asked
  if (!left.ends_with('.')) return false;
  left.remove_suffix(1);
  const std::string_view word = last_word(left);
  if (word.size() == left.size() && (all_digits(word) || is_initials(word)))
    return true;  // "1. Introduction"
  return !word.empty() && joined_by_abbreviation(word, right);
}

bool SentenceRules::joined_by_abbreviation(std::string_view word, std::string_view right) const {
  if (has(never_, word)) return true;
  if (u_isdigit(first_of(right)) && has(number_, word)) return true;
  const bool ordinal =
      ordinals_ && all_digits(word) && word.size() <= 2 && std::stoi(std::string(word)) <= max_ordinal;
  if (!ordinal && !is_initials(word) && !has(perhaps_, word)) return false;
  return !is_opening(first_of(right)) && !starters_.contains(first_word(right));
}

std::vector<std::string> languages_with_sentence_rules() {
  std::vector<std::string> languages;
  for (const auto& [language, rules] : all_rules().by_language)
    if (language != "any") languages.push_back(language);
  return languages;
}

}  // namespace dragoman::internal
