#include "text/noise.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <vector>

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/ucasemap.h>

#include "base/error.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr double share_of_misspelt_words = 1.0 / 6;
constexpr size_t shortest_misspelt = 4;  // letters: a mistake in a shorter word often makes another word

bool is_plain_word(std::string_view word) {
  return word.find_first_of("{}<>%$@_\\") == word.npos && word.find("://") == word.npos &&
         !word.starts_with("www.");
}

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

// --- Tags -------------------------------------------------------------------------------------------

struct Tag {
  std::u32string_view open, close;
};

constexpr std::array<Tag, 8> tags_around = {{{U"<b>", U"</b>"},
                                             {U"<i>", U"</i>"},
                                             {U"<em>", U"</em>"},
                                             {U"<strong>", U"</strong>"},
                                             {U"<span>", U"</span>"},
                                             {U"<a>", U"</a>"},
                                             {U"<g id=\"1\">", U"</g>"},
                                             {U"<1>", U"</1>"}}};
constexpr std::array<std::u32string_view, 3> tags_alone = {U"<br/>", U"<x id=\"1\"/>", U"<1/>"};

// A word without the marks around it.
std::u32string_view bare(std::u32string_view word) {
  const auto is_mark = [](char32_t c) { return !is_letter(c) && !is_number(c); };
  while (!word.empty() && is_mark(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_mark(word.back())) word.remove_suffix(1);
  return word;
}

// A word without the marks around it, where it is a name or a number; else nothing. Other words that look alike may
// have nothing to do with one another: "on", "a", "pain".
std::u32string_view name_in(std::u32string_view word) {
  constexpr size_t shortest_name = 3;
  const std::u32string_view name = bare(word);
  if (name.empty() || !is_plain_word(to_utf8(word))) return {};
  return is_number(name.front()) || (is_upper(name.front()) && name.size() >= shortest_name)
             ? name
             : std::u32string_view();
}

// How often a text has each of its names and numbers.
std::unordered_map<std::u32string_view, int> names_in(std::u32string_view text) {
  std::unordered_map<std::u32string_view, int> counts;
  for (const std::u32string_view word : split_words(text))
    if (const std::u32string_view name = name_in(word); !name.empty()) ++counts[name];
  return counts;
}

// Those that a text and all others have once, in the text's order, in time that grows with their length: lines may be
// very long.
std::vector<std::u32string_view> names_of_all(std::u32string_view text,
                                              std::span<const std::u32string> others) {
  std::unordered_map<std::u32string_view, int> counts = names_in(text);
  std::erase_if(counts, [](const auto& name) { return name.second != 1; });
  for (const std::u32string& other : others) {
    const std::unordered_map<std::u32string_view, int> others_counts = names_in(other);
    std::erase_if(counts, [&](const auto& name) {
      const auto found = others_counts.find(name.first);
      return found == others_counts.end() || found->second != 1;
    });
  }
  std::vector<std::u32string_view> shared;
  for (const std::u32string_view word : split_words(text))
    if (counts.contains(name_in(word))) shared.push_back(name_in(word));
  return shared;
}

// A name or number of a text, as a view into it.
std::u32string_view found_in(std::u32string_view text, std::u32string_view wanted) {
  for (const std::u32string_view word : split_words(text))
    if (name_in(word) == wanted) return name_in(word);
  return {};
}

std::string with_tag(const std::u32string& text, std::u32string_view part, const Tag& tag) {
  const auto begin = static_cast<size_t>(part.data() - text.data());
  std::u32string tagged = text;
  tagged.insert(begin + part.size(), tag.close);
  tagged.insert(begin, tag.open);
  return to_utf8(tagged);
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

void add_tags(std::string& source, std::span<std::string> targets, Random& random) {
  const auto has_markup = [](std::string_view text) { return text.find('<') != text.npos; };
  if (has_markup(source) || std::ranges::any_of(targets, has_markup)) return;
  const std::u32string of_source = code_points(source);
  std::vector<std::u32string> of_targets;
  for (const std::string& target : targets) of_targets.push_back(code_points(target));
  Tag tag = tags_around[random.below(tags_around.size())];
  std::u32string_view word;  // empty: all of the text
  switch (random.below(3)) {
    case 0:
      break;
    case 1: {
      const std::u32string_view alone = tags_alone[random.below(tags_alone.size())];
      tag = random.below(2) == 0 ? Tag{alone, U""} : Tag{U"", alone};
      break;
    }
    default:
      if (const std::vector<std::u32string_view> shared = names_of_all(of_source, of_targets);
          !shared.empty())
        word = shared[random.below(shared.size())];
  }
  const auto tagged = [&](const std::u32string& text) {
    return with_tag(text, word.empty() ? text : found_in(text, word), tag);
  };
  source = tagged(of_source);
  std::ranges::transform(of_targets, targets.begin(), tagged);
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
