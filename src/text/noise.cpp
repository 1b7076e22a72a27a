#include "text/noise.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/ucasemap.h>

#include "base/error.h"
#include "text/scripts.h"
#include "text/tags.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr double share_of_misspelt_words = 1.0 / 6;
constexpr size_t shortest_misspelt = 4;  // letters: a mistake in a shorter word often makes another word

// Applies a function to every word and keeps what stands between them.
std::string with_words(std::string_view text, const std::function<std::string(std::string_view)>& change) {
  constexpr std::string_view spaces = " \t\r\n";
  std::string changed;
  for (size_t begin = 0; begin < text.size();) {
    const size_t word = std::min(text.find_first_not_of(spaces, begin), text.size());
    const size_t end = std::min(text.find_first_of(spaces, word), text.size());
    changed += text.substr(begin, word - begin);
    if (end > word) changed += change(text.substr(word, end - word));
    begin = end;
  }
  return changed;
}

icu::StringPiece piece_of(std::string_view text) { return {text.data(), static_cast<int32_t>(text.size())}; }

// --- Misspelling ------------------------------------------------------------------------------------

using KeyRows = std::array<std::u32string_view, 3>;

constexpr KeyRows qwerty = {U"qwertyuiop", U"asdfghjkl", U"zxcvbnm"};
constexpr KeyRows qwertz = {U"qwertzuiopü", U"asdfghjklöä", U"yxcvbnm"};
constexpr KeyRows azerty = {U"azertyuiop", U"qsdfghjklm", U"wxcvbn"};
constexpr KeyRows cyrillic = {U"йцукенгшщзхъ", U"фывапролджэ", U"ячсмитьбю"};
constexpr KeyRows greek = {U"ςερτυθιοπ", U"ασδφγηξκλ", U"ζχψωβνμ"};

// A key beside the letter's, in the letter's case; the letter itself where no keyboard has it.
char32_t neighbour_of(char32_t letter, const std::string& language, Random& random) {
  const KeyRows& latin = language.starts_with("de") ? qwertz : language.starts_with("fr") ? azerty : qwerty;
  const char32_t lower = to_lower(letter);
  for (const KeyRows* rows : {&latin, &cyrillic, &greek}) {
    for (const std::u32string_view row : *rows) {
      const size_t key = row.find(lower);
      if (key == row.npos) continue;
      const bool right = key == 0 || (key + 1 < row.size() && random.below(2) == 0);
      const char32_t other = row[right ? key + 1 : key - 1];
      return lower == letter ? other : to_upper(other);
    }
  }
  return letter;
}

// The places of a word's letters; none where it has anything else inside, such as a digit or an apostrophe.
std::vector<size_t> letters_to_misspell(const std::u32string& word) {
  std::vector<size_t> places;
  for (size_t i = 0; i < word.size(); ++i) {
    if (!is_letter(word[i])) continue;
    if (!places.empty() && places.back() + 1 != i) return {};
    places.push_back(i);
  }
  return places.size() < shortest_misspelt ? std::vector<size_t>() : places;
}

std::string misspelt_word(std::u32string word, const std::vector<size_t>& letters,
                          const std::string& language, Random& random) {
  const size_t place =
      letters[random.below(letters.size() - 1)];  // not the last, so that there is a next one
  const std::u32string correct = word;
  switch (random.below(4)) {
    case 0:
      std::swap(word[place], word[place + 1]);
      break;
    case 1:
      word.insert(place, 1, word[place]);
      break;
    case 2:
      word[place] = neighbour_of(word[place], language, random);
      break;
    default:
      break;
  }
  if (word == correct) word.erase(place, 1);
  return to_utf8(word);
}

bool ends_sentence(char32_t c) {
  return c == U'.' || c == U'!' || c == U'?' || c == U'…' || c == U'。' || c == U'！' || c == U'？' ||
         c == U'।' || c == U'؟' || c == U'۔' || c == U'．';
}

}  // namespace

std::string upper_cased(std::string_view text, const std::string& language) {
  return with_words(text, [&](std::string_view word) {
    if (!is_plain_word(word)) return std::string(word);
    std::string upper;
    icu::StringByteSink<std::string> sink(&upper);
    UErrorCode status = U_ZERO_ERROR;
    icu::CaseMap::utf8ToUpper(language.c_str(), 0, piece_of(word), sink, nullptr, status);
    CHECK(U_SUCCESS(status), "{}", u_errorName(status));
    return upper;
  });
}

std::string title_cased(std::string_view text, const std::string& language) {
  return with_words(text, [&](std::string_view word) {
    if (!is_plain_word(word)) return std::string(word);
    std::string title;
    icu::StringByteSink<std::string> sink(&title);
    UErrorCode status = U_ZERO_ERROR;
    icu::CaseMap::utf8ToTitle(language.c_str(), U_TITLECASE_NO_LOWERCASE | U_TITLECASE_WHOLE_STRING, nullptr,
                              piece_of(word), sink, nullptr, status);
    CHECK(U_SUCCESS(status), "{}", u_errorName(status));
    return title;
  });
}

std::string misspelt(std::string_view text, Random& random, const std::string& language) {
  std::vector<bool> chosen;
  with_words(text, [&](std::string_view word) {
    if (is_plain_word(word) && !letters_to_misspell(code_points(word)).empty())
      chosen.push_back(random.uniform() < share_of_misspelt_words);
    return std::string();
  });
  if (chosen.empty()) return std::string(text);
  if (std::ranges::count(chosen, true) == 0) chosen[random.below(chosen.size())] = true;
  size_t next = 0;
  return with_words(text, [&](std::string_view word) {
    if (!is_plain_word(word)) return std::string(word);
    const std::u32string characters = code_points(word);
    const std::vector<size_t> letters = letters_to_misspell(characters);
    if (letters.empty() || !chosen[next++]) return std::string(word);
    return misspelt_word(characters, letters, language, random);
  });
}

std::string without_final_punctuation(std::string_view text) {
  const std::u32string characters = code_points(text);
  size_t end = characters.size();
  while (end > 0 && is_space(characters[end - 1])) --end;
  const size_t with_mark = end;
  while (end > 0 && ends_sentence(characters[end - 1])) --end;
  if (end == with_mark) return std::string(text);
  while (end > 0 && is_space(characters[end - 1])) --end;
  return end == 0 ? std::string(text) : std::string(text.substr(0, code_point_offsets(text)[end]));
}

bool add_noise(const NoiseShares& shares, uint64_t pair, const std::string& from, const std::string& to,
               std::string& source, std::string& target) {
  if (!shares.any()) return false;
  const std::string clean_source = source, clean_target = target;
  Random random(mix(mix(0, "noise"), pair));
  const double of_case = random.uniform(), of_typos = random.uniform(), of_punctuation = random.uniform();
  Random of_tags(mix(mix(0, "tags"), pair));
  if (of_typos < shares.typos) source = misspelt(source, random, from);
  if (of_case < shares.upper) {
    source = upper_cased(source, from);
    target = upper_cased(target, to);
  } else if (of_case < shares.upper + shares.title) {
    source = title_cased(source, from);
    target = title_cased(target, to);
  }
  if (of_punctuation < shares.punctuation) {
    std::string bare_source = without_final_punctuation(source),
                bare_target = without_final_punctuation(target);
    if (bare_source != source && bare_target != target) {
      source = std::move(bare_source);
      target = std::move(bare_target);
    }
  }
  const bool has_own_case = of_case >= shares.upper + shares.title;  // else any word may look like a name
  if (has_own_case && of_tags.uniform() < shares.tags) add_tags(source, {&target, 1}, of_tags);
  return source != clean_source || target != clean_target;
}

}  // namespace dragoman::internal
