#include "document/repair.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <unicode/uchar.h>

#include "base/utf8.h"
#include "document/document.h"
#include "document/placeholders.h"
#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

bool overlap(TextSpan a, TextSpan b) { return a.begin < b.end && b.begin < a.end; }

// Of a script with spaces between words.
bool is_of_word(char32_t c) { return (is_letter(c) || is_number(c)) && !is_of_unspaced_script(c); }

bool ends_with_word(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && is_continuation(text[begin - 1])) --begin;
  const std::u32string last = code_points(text.substr(begin > 0 ? begin - 1 : 0));
  return !last.empty() && is_of_word(last.back());
}
bool begins_with_word(std::string_view text) {
  const std::u32string first = code_points(text.substr(0, 4));
  return !first.empty() && is_of_word(first.front());
}

bool ends_sentence_or_clause(std::string_view word) {
  constexpr std::u32string_view marks = U".,;:!?…。，、；：！？؟،؛।";
  const std::u32string points = code_points(word);
  return points.size() == 1 && marks.find(points[0]) != marks.npos;
}

// These bytes of a translation become a text, which comes from a part of the source.
struct Edit {
  TextSpan place;
  std::string text;
  TextSpan source = {};
};

class Repair {
 public:
  Repair(std::string_view source, const TranslatedText& translation)
      : source_(source), translation_(translation), links_(source, translation.text, translation.links) {}

  // In the order of their places.
  std::vector<Edit> edits() {
    const std::vector<TextSpan> wanted = find_placeholders(source_);
    std::vector<TextSpan> found = find_placeholders(translation_.text), missing;
    taken_.assign(links_.words().size(), false);
    for (const TextSpan placeholder : wanted) {
      if (!match(placeholder, found)) missing.push_back(placeholder);
    }
    for (const TextSpan placeholder : missing) put_back(placeholder, found);
    for (const TextSpan surplus : found) take_out(surplus);
    std::ranges::stable_sort(edits_, {}, [](const Edit& edit) { return edit.place.begin; });
    return std::move(edits_);
  }

 private:
  static constexpr int max_compared = 8;  // occurrences of one placeholder

  WordRange words_at(TextSpan bytes) const {
    const std::vector<TextSpan>& words = links_.words();
    const auto begin = std::ranges::upper_bound(words, bytes.begin, {}, &TextSpan::end);
    const auto end = std::ranges::lower_bound(words, bytes.end, {}, &TextSpan::begin);
    return {static_cast<size_t>(begin - words.begin()),
            static_cast<size_t>(std::max(begin, end) - words.begin())};
  }

  // Takes from `found` the occurrence that a placeholder became: of several equal ones the one linked to it.
  bool match(TextSpan placeholder, std::vector<TextSpan>& found) {
    auto best = found.end();
    int equal = 0;
    for (auto other = found.begin(); other != found.end() && equal < max_compared; ++other) {
      if (other->of(translation_.text) != placeholder.of(source_)) continue;
      if (++equal == 1) best = other;
      if (links_.words_from(placeholder, words_at(*other), [](size_t) { return true; }).empty()) continue;
      best = other;
      break;
    }
    if (best == found.end()) return false;
    take(*best);
    found.erase(best);
    return true;
  }

  void take(TextSpan bytes) {
    const WordRange words = words_at(bytes);
    for (size_t i = words.begin; i < words.end; ++i) taken_[i] = true;
  }

  void put_back(TextSpan placeholder, std::vector<TextSpan>& found) {
    const std::vector<TextSpan>& words = links_.words();
    const WordRange all = {0, words.size()};
    const auto free = [&](size_t word) {
      return !taken_[word] && !ends_sentence_or_clause(words[word].of(translation_.text));
    };
    if (const WordRange run = links_.words_from(placeholder, all, free); !run.empty()) {
      const TextSpan place = {words[run.begin].begin, words[run.end - 1].end};
      take(place);
      std::erase_if(found, [&](TextSpan other) { return overlap(other, place); });
      edits_.push_back({place, std::string(placeholder.of(source_)), placeholder});
    } else {
      insert(placeholder);
    }
  }

  void insert(TextSpan placeholder) {
    const std::vector<TextSpan>& words = links_.words();
    const std::vector<double> wrong = links_.crossings(placeholder.begin, {0, words.size()});
    const auto k = static_cast<size_t>(std::ranges::min_element(wrong) - wrong.begin());
    const bool space_before = placeholder.begin > 0 && source_[placeholder.begin - 1] == ' ';
    const bool space_after = placeholder.end < source_.size() && source_[placeholder.end] == ' ';
    std::string text(placeholder.of(source_));
    if (k > 0 && (space_before || placeholder.begin == 0)) text = ' ' + text;
    if (k == 0 && !words.empty() && (space_after || placeholder.end == source_.size())) text += ' ';
    const size_t place =
        k > 0 ? words[k - 1].end : (words.empty() ? translation_.text.size() : words[0].begin);
    edits_.push_back({{place, place}, std::move(text), placeholder});
  }

  // With the white space before it, unless a word follows.
  void take_out(TextSpan surplus) {
    const std::string_view text = translation_.text;
    const bool space = surplus.begin > 0 && text[surplus.begin - 1] == ' ';
    const bool word =
        surplus.end < text.size() && std::isalnum(static_cast<unsigned char>(text[surplus.end])) != 0;
    if (space && !word) --surplus.begin;
    edits_.push_back({surplus, word && !space ? " " : ""});
  }

  std::string_view source_;
  const TranslatedText& translation_;
  WordLinks links_;
  std::vector<bool> taken_;  // words that a placeholder of the source became
  std::vector<Edit> edits_;
};

// Readers of most formats find an address only after a space or an opening sign.
bool hides_address(std::string_view before, std::string_view placeholder) {
  constexpr std::string_view signs = ".,;:!?-)]}";
  return placeholder.find("://") != placeholder.npos && !before.empty() &&
         signs.find(before.back()) != signs.npos;
}

// A placeholder touches a word only where it does in the source. `apart`: with white space around each change.
TranslatedText edited(std::string_view source, const TranslatedText& before, const std::vector<Edit>& edits,
                      bool apart) {
  TranslatedText after;
  std::vector<std::pair<size_t, size_t>> kept;  // where the bytes between edits begin, before and after
  size_t at = 0;
  for (const Edit& edit : edits) {
    kept.emplace_back(at, after.text.size());
    after.text += std::string_view(before.text).substr(at, edit.place.begin - at);
    at = edit.place.end;
    const auto separate = [&](bool words_meet) {
      after.text += (apart || words_meet) && !after.text.ends_with(' ') ? " " : "";
    };
    const bool is_placeholder = edit.source.begin < edit.source.end;
    const std::string_view source_before = source.substr(0, edit.source.begin);
    separate(is_placeholder && !edit.text.starts_with(' ') &&
             ((ends_with_word(after.text) && !ends_with_word(source_before)) ||
              (hides_address(after.text, edit.text) && !hides_address(source_before, edit.text))));
    const size_t begin = after.text.size();
    after.text += edit.text;
    if (is_placeholder) after.links.push_back({edit.source, {begin, after.text.size()}});
    separate(is_placeholder && begins_with_word(std::string_view(before.text).substr(at)) &&
             !begins_with_word(source.substr(edit.source.end)));
  }
  kept.emplace_back(at, after.text.size());
  after.text += std::string_view(before.text).substr(at);
  for (const TextLink& link : before.links) {
    const auto next =
        std::ranges::upper_bound(kept, link.target.begin, {}, [](const auto& k) { return k.first; });
    const size_t end = next != kept.end() ? edits[static_cast<size_t>(next - kept.begin()) - 1].place.begin
                                          : before.text.size();
    if (link.target.end > end) continue;
    const size_t shift = std::prev(next)->second - std::prev(next)->first;  // modulo 2^64
    after.links.push_back({link.source, {link.target.begin + shift, link.target.end + shift}});
  }
  return after;
}

// A placeholder that was taken out may leave white space at an end.
void trim(TranslatedText& translation) {
  const TextSpan inner = trimmed(translation.text);
  translation.text = std::string(inner.of(translation.text));
  for (TextLink& link : translation.links)
    link.target = {std::clamp(link.target.begin, inner.begin, inner.end) - inner.begin,
                   std::clamp(link.target.end, inner.begin, inner.end) - inner.begin};
}

// Arabic and Hebrew write prepositions and articles together with the word after them.
bool may_have_prefix(std::string_view text) {
  return std::ranges::any_of(code_points(text), [](char32_t c) {
    const UCharDirection direction = u_charDirection(static_cast<UChar32>(c));
    return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC;
  });
}

// Models write "%d" behind a word without a space where their vocabulary has none before a per cent sign.
void separate_from_words_before(std::string_view source, TranslatedText& translation) {
  if (may_have_prefix(translation.text)) return;
  struct Wanted {
    TextSpan first = {};
    bool touches = false;
  };
  std::map<std::string_view, Wanted> wanted;
  for (const TextSpan place : find_placeholders(source)) {
    Wanted& same = wanted.try_emplace(place.of(source), Wanted{.first = place}).first->second;
    same.touches |= ends_with_word(source.substr(0, place.begin));
  }
  std::vector<Edit> edits;
  for (const TextSpan place : find_placeholders(translation.text)) {
    if (!ends_with_word(std::string_view(translation.text).substr(0, place.begin))) continue;
    const std::string_view text = place.of(translation.text);
    const auto origin = wanted.find(text);
    if (origin != wanted.end() && !origin->second.touches)
      edits.push_back({place, std::string(text), origin->second.first});
  }
  if (!edits.empty()) translation = edited(source, translation, edits, /*apart=*/false);
}

// How many placeholders were restored or removed.
size_t restore(std::string_view source, TranslatedText& translation) {
  const std::vector<std::string_view> wanted = sorted_placeholders(source);
  if (sorted_placeholders(translation.text) == wanted) return 0;
  const std::vector<Edit> edits = Repair(source, translation).edits();
  TranslatedText repaired = edited(source, translation, edits, /*apart=*/false);
  // An address extends as far as it can, and "50%d" contains no placeholder: an insertion may not touch its neighbours.
  if (sorted_placeholders(repaired.text) != wanted)
    repaired = edited(source, translation, edits, /*apart=*/true);
  trim(repaired);
  translation = std::move(repaired);
  return edits.size();
}

}  // namespace

size_t repair_placeholders(std::string_view source, TranslatedText& translation) {
  if (find_placeholders(source).empty()) return 0;
  const size_t restored = restore(source, translation);
  separate_from_words_before(source, translation);
  return restored;
}

}  // namespace dragoman::internal
