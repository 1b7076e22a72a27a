#include "document/glossary.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// The search treats typographic variants as the same.
char32_t plain(char32_t c) { return is_space(c) ? U' ' : c == U'’' ? U'\'' : c; }

std::u32string plain(const std::u32string& text) {
  std::u32string result = text;
  std::ranges::transform(result, result.begin(), [](char32_t c) { return plain(c); });
  return result;
}

std::u32string lowered(const std::u32string& text) {
  std::u32string result = text;
  std::ranges::transform(result, result.begin(), [](char32_t c) { return to_lower(c); });
  return result;
}

std::string with_first(const std::string& text, char32_t (*change)(char32_t)) {
  std::u32string points = code_points(text);
  if (!points.empty()) points[0] = change(points[0]);
  return to_utf8(points);
}

// Whether a term may begin or end between these characters.
bool is_edge(std::u32string_view text, size_t at) {
  if (at == 0 || at == text.size()) return true;
  return !is_combining(text[at]) && !(is_of_spaced_word(text[at - 1]) && is_of_spaced_word(text[at]));
}

// In Korean particles follow a word without a space.
bool is_end(std::u32string_view text, size_t begin, size_t end) {
  return is_edge(text, end) || (end - begin > 1 && is_hangul(text[end - 1]) && is_hangul(text[end]));
}

// Whether a sentence begins here: at the beginning of the text or after a sentence, with opening punctuation between.
bool begins_sentence(std::u32string_view text, size_t at) {
  constexpr std::u32string_view ends = U".!?…:;。！？\n";
  size_t before = at;
  while (before > 0 && text[before - 1] != U'\n' && ends.find(text[before - 1]) == ends.npos &&
         (is_space(text[before - 1]) || is_punctuation(text[before - 1]) || is_symbol(text[before - 1])))
    --before;
  return before == 0 || ends.find(text[before - 1]) != ends.npos;
}

}  // namespace

struct Glossary::KeyMatch {
  const Key* key = nullptr;
  size_t begin = 0, end = 0;
  enum class Kind { writing, capital, any_case } kind = Kind::writing;
};

Glossary::Glossary(std::vector<GlossaryEntry> entries) : entries_(std::move(entries)) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool any = entries_[i].letter_case == GlossaryEntry::Case::any;
    for (const std::string& source : entries_[i].sources) {
      std::u32string text = plain(code_points(source));
      if (text.empty()) continue;
      if (entries_[i].letter_case == GlossaryEntry::Case::at_sentence_start) capital_.push_back({text, i});
      any ? any_case_.push_back({lowered(text), i}) : exact_.push_back({std::move(text), i});
    }
  }
  for (std::vector<Key>* keys : {&exact_, &capital_, &any_case_})
    std::ranges::sort(*keys, {}, [](const Key& key) { return std::tie(key.text, key.entry); });
}

// The longest key that the text has from `begin` on, with `first` as its first character, of its first entry. `end`:
// where it ends. The range of keys with a common prefix narrows character by character.
const Glossary::Key* Glossary::longest(const std::vector<Key>& keys, std::u32string_view text, size_t begin,
                                       char32_t first, size_t& end) {
  const Key* found = nullptr;
  std::span<const Key> range = keys;
  size_t at = begin;
  for (size_t depth = 0; !range.empty() && at < text.size(); ++depth) {
    const char32_t c = depth == 0 ? first : plain(text[at]);
    const auto at_depth = [depth](const Key& key) {
      return depth < key.text.size() ? std::optional(key.text[depth]) : std::nullopt;
    };
    range = {std::ranges::lower_bound(range, std::optional(c), {}, at_depth),
             std::ranges::upper_bound(range, std::optional(c), {}, at_depth)};
    ++at;
    while (c == U' ' && at < text.size() && is_space(text[at])) ++at;
    if (range.empty() || range.front().text.size() != depth + 1) continue;
    if (is_end(text, begin, at)) found = &range.front(), end = at;
  }
  return found;
}

// Of equally long matches, one as written precedes one by a capital, and that one of any case.
Glossary::KeyMatch Glossary::find_at(std::u32string_view text, std::u32string_view in_lower_case,
                                     size_t begin) const {
  KeyMatch best;
  const auto consider = [&](KeyMatch::Kind kind, const std::vector<Key>& keys, std::u32string_view in,
                            char32_t first) {
    size_t end = 0;
    const Key* key = longest(keys, in, begin, first, end);
    if (key != nullptr && end > best.end) best = {key, begin, end, kind};
  };
  const char32_t first = text[begin];
  consider(KeyMatch::Kind::writing, exact_, text, plain(first));
  if (is_upper(first) && begins_sentence(text, begin))
    consider(KeyMatch::Kind::capital, capital_, text, to_lower(first));
  consider(KeyMatch::Kind::any_case, any_case_, in_lower_case, plain(in_lower_case[begin]));
  return best;
}

std::vector<std::string> Glossary::targets_of(const KeyMatch& found, std::u32string_view text) const {
  const std::vector<Key>& keys = found.kind == KeyMatch::Kind::writing   ? exact_
                                 : found.kind == KeyMatch::Kind::capital ? capital_
                                                                         : any_case_;
  std::vector<std::string> targets;
  const auto add = [&](std::string target) {
    if (std::ranges::count(targets, target) == 0) targets.push_back(std::move(target));
  };
  const bool at_start = is_upper(text[found.begin]) && begins_sentence(text, found.begin);
  // Equal keys are adjacent, in the order of their entries.
  for (const Key* key = found.key; key != keys.data() + keys.size() && key->text == found.key->text; ++key) {
    const GlossaryEntry& entry = entries_[key->entry];
    if (entry.targets.empty()) add(to_utf8(single_spaced(text.substr(found.begin, found.end - found.begin))));
    // The output may begin elsewhere in the sentence than the source: then the target as the glossary has it.
    const bool capital =
        at_start && (found.kind == KeyMatch::Kind::capital ||
                     (found.kind == KeyMatch::Kind::any_case && !is_upper(code_points(entry.sources[0])[0])));
    for (const std::string& target : entry.targets) {
      if (capital) add(with_first(target, to_upper));
    }
    for (const std::string& target : entry.targets) add(target);
    if (entry.letter_case == GlossaryEntry::Case::exact || !at_start) continue;
    for (const std::string& target : entry.targets) add(with_first(target, to_upper));
  }
  return targets;
}

std::vector<GlossaryMatch> Glossary::find(std::string_view utf8) const {
  const std::u32string text = code_points(utf8);
  const std::u32string in_lower_case = any_case_.empty() ? text : lowered(text);
  std::vector<GlossaryMatch> matches;
  for (size_t i = 0; i < text.size();) {
    const KeyMatch found =
        is_edge(text, i) && !is_space(text[i]) ? find_at(text, in_lower_case, i) : KeyMatch{};
    if (found.key == nullptr) {
      ++i;
      continue;
    }
    size_t end = found.end;
    matches.push_back({{i, end}, targets_of(found, text)});
    i = end;
  }
  return matches;
}

}  // namespace dragoman::internal
