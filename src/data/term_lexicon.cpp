#include "data/term_lexicon.h"

#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/random.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_words = 5;    // of a source
constexpr uint64_t max_terms = 3;  // per pair: with more, the model would learn to expect them

struct Word {
  TextSpan place;
  std::string lower;
};

// Runs of letters, marks and digits, in lower case.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool inside = false;
  for (size_t next = 0, begin = 0; next < text.size(); begin = next) {
    UChar32 c;
    U8_NEXT(text.data(), next, text.size(), c);
    const bool is_in_word = c >= 0 && (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
    if (is_in_word && !inside) words.push_back({.place = {begin, begin}, .lower = {}});
    inside = is_in_word;
    if (!inside) continue;
    words.back().place.end = next;
    words.back().lower += to_utf8(static_cast<char32_t>(u_tolower(c)));
  }
  return words;
}

std::vector<std::string> lower_words(std::string_view text) {
  std::vector<std::string> words;
  for (Word& word : words_of(text)) words.push_back(std::move(word.lower));
  return words;
}

// Whether two words may be forms of one: they differ in what follows the first half, and that is at most three letters.
bool is_form(std::string_view a, std::string_view b) {
  constexpr size_t max_ending = 3;
  const std::u32string left = code_points(a), right = code_points(b);
  const auto differ = std::ranges::mismatch(left, right).in1;
  const auto stem = static_cast<size_t>(differ - left.begin());
  const size_t longer = std::max(left.size(), right.size());
  return stem == longer || (stem >= 3 && longer - stem <= max_ending && 2 * stem >= longer);
}

// The first of the targets that a translation has; preferably one in the same form.
const TermTarget* used_in(const std::vector<std::string>& translation,
                          const std::vector<TermTarget>& targets) {
  for (bool (*const same)(std::string_view, std::string_view) :
       {+[](std::string_view a, std::string_view b) { return a == b; }, &is_form}) {
    for (const TermTarget& target : targets) {
      const auto found =
          std::search(translation.begin(), translation.end(), target.words.begin(), target.words.end(), same);
      if (found != translation.end()) return &target;
    }
  }
  return nullptr;
}

}  // namespace

TermLexicon::TermLexicon(const std::string& path) {
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t tab = line.find('\t');
    if (tab == line.npos || !is_text(line))
      throw Error("{}:{}: a term is source, tab, target in UTF-8", path, lines.number());
    std::string key;
    const std::vector<std::string> source = lower_words(line.substr(0, tab));
    for (const std::string& word : source) key += (key.empty() ? "" : " ") + word;
    if (source.empty() || source.size() > max_words)
      throw Error("{}:{}: a term must have 1 to {} words: correct or remove the line", path, lines.number(),
                  max_words);
    longest_ = std::max(longest_, source.size());
    std::string_view rest = line.substr(tab + 1);
    for (rest = rest.substr(0, rest.find('\t')); !rest.empty();) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      const std::string_view target = stripped(rest.substr(0, bar), " ");
      if (auto words = lower_words(target); !words.empty())
        targets_[key].push_back({std::string(target), std::move(words)});
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    if (!targets_.contains(key)) throw Error("{}:{}: the term has no target: add one", path, lines.number());
  }
  if (targets_.empty()) throw Error("{} has no terms: add lines of source, tab, target", path);
}

std::vector<TermInText> TermLexicon::terms_of(std::string_view source, std::string_view target) const {
  const std::vector<Word> words = words_of(source);
  const std::vector<std::string> translation = lower_words(target);
  std::vector<TermInText> terms;
  for (size_t begin = 0; begin < words.size();) {
    std::vector<std::string> keys;
    for (size_t end = begin; end < std::min(begin + longest_, words.size()); ++end)
      keys.push_back(keys.empty() ? words[end].lower : keys.back() + " " + words[end].lower);
    size_t taken = 0;
    for (size_t length = keys.size(); length > 0 && taken == 0; --length) {
      const auto found = targets_.find(keys[length - 1]);
      if (found == targets_.end()) continue;
      const TermTarget* const used = used_in(translation, found->second);
      if (used == nullptr) continue;
      terms.push_back({{words[begin].place.begin, words[begin + length - 1].place.end}, used->text});
      taken = length;
    }
    begin += std::max<size_t>(taken, 1);
  }
  return terms;
}

std::vector<TermInText> chosen_terms(const TermLexicon& lexicon, double share, uint64_t pair,
                                     std::string_view source, std::string_view target) {
  Random random(mix(mix(0, "terms"), pair));
  if (random.uniform() >= share) return {};
  std::vector<TermInText> terms = lexicon.terms_of(source, target);
  for (const uint64_t wanted = 1 + random.below(max_terms); terms.size() > wanted;)
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(random.below(terms.size())));
  return terms;
}

}  // namespace dragoman::internal
