#include "confidence/names.h"

#include <algorithm>

#include "text/normal_form.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

struct Name {
  std::u32string text;
  bool unmistakable;  // an inner capital, or letters and digits
};

bool is_of_word(char32_t c) { return is_letter(c) || is_combining(c) || is_number(c); }

bool is_unmistakable(std::u32string_view word) {
  const auto letters = std::ranges::count_if(word, is_letter),
             digits = std::ranges::count_if(word, is_number),
             capitals = std::ranges::count_if(word, is_upper);
  if (letters > 0 && digits > 0) return true;
  return capitals > 0 && capitals < letters && std::ranges::any_of(word.substr(1), is_upper);
}

// Whether a sentence, a quotation or the like begins at this place, so that a capital says nothing.
bool begins_sentence(std::u32string_view before) {
  while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
  return before.empty() ||
         (is_punctuation(before.back()) && before.back() != U',' && before.back() != U'-' &&
          before.back() != U'\'' && before.back() != U'’') ||
         is_symbol(before.back());
}

std::vector<Name> names_in(const std::u32string& text) {
  std::vector<Name> names;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && is_of_word(text[end])) ++end;
    const std::u32string_view word = std::u32string_view(text).substr(begin, end - begin);
    if (word.size() > 1) {
      const bool unmistakable = is_unmistakable(word);
      if (unmistakable || (is_upper(word[0]) && is_lower(word[1]) &&
                           !begins_sentence(std::u32string_view(text).substr(0, begin))))
        names.push_back({std::u32string(word), unmistakable});
    }
    begin = end == begin ? begin + 1 : end;
  }
  return names;
}

// Lower case without accents.
std::u32string plain(std::u32string_view text) {
  std::u32string all = lower_case(code_points(decomposed(to_utf8(text))));
  std::erase_if(all, is_combining);
  return all;
}

// Its first three letters, and of a long word the first three fifths, may be followed by another ending.
bool stands_in(const std::u32string& name, const std::u32string& plain_text) {
  const std::u32string all = plain(name);
  constexpr size_t shortest = 3;
  return plain_text.find(all.substr(0, std::max(shortest, all.size() * 3 / 5))) != plain_text.npos;
}

}  // namespace

std::vector<std::string> missing_names(std::string_view source, std::string_view translation) {
  const std::u32string ours = code_points(source), theirs = code_points(translation);
  const std::vector<Name> names = names_in(ours);
  if (names.empty()) return {};
  const std::u32string plain_source = plain(ours), plain_translation = plain(theirs);
  const bool other_name = std::ranges::any_of(names_in(theirs), [&](const Name& name) {
    return !name.unmistakable && !stands_in(name.text, plain_source);
  });
  std::vector<std::string> missing;
  for (const Name& name : names) {
    if ((!name.unmistakable && !other_name) || stands_in(name.text, plain_translation)) continue;
    missing.push_back(to_utf8(name.text));
  }
  return missing;
}

}  // namespace dragoman::internal
