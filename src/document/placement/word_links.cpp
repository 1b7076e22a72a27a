#include "document/placement/word_links.h"

#include <algorithm>
#include <functional>
#include <set>

#include <unicode/uchar.h>

#include "document/placeholders.h"
#include "text/breaks.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// A punctuation mark attends to many words: it must not attract a tag.
constexpr double weight_of_punctuation = 0.25;

bool has_word_characters(std::string_view text) {
  return has_character(text, [](char32_t c) { return u_isalnum(static_cast<UChar32>(c)) != 0; });
}

// Words that overlap a placeholder become part of it.
std::vector<TextSpan> with_whole(const std::vector<TextSpan>& placeholders,
                                 const std::vector<TextSpan>& words) {
  std::vector<TextSpan> merged;
  size_t next = 0;
  for (const TextSpan word : words) {
    while (next < placeholders.size() && placeholders[next].end <= word.begin) ++next;
    const bool inside = next < placeholders.size() && placeholders[next].begin < word.end;
    if (!inside) {
      merged.push_back(word);
    } else if (!merged.empty() && merged.back().end > placeholders[next].begin) {
      merged.back().end = std::max(merged.back().end, word.end);
    } else {
      merged.push_back(
          {std::min(word.begin, placeholders[next].begin), std::max(word.end, placeholders[next].end)});
    }
  }
  return merged;
}

// Of those that begin at one place the longest.
std::vector<TextSpan> occurrences(std::span<const std::string> directives, std::string_view text) {
  const std::set<std::string_view> known(directives.begin(), directives.end());
  std::set<size_t, std::greater<>> sizes;
  for (const std::string_view directive : known) sizes.insert(directive.size());
  std::vector<TextSpan> found;
  for (size_t at = 0; at < text.size() && !known.empty();) {
    const auto size = std::ranges::find_if(sizes, [&](size_t bytes) {
      return bytes > 0 && bytes <= text.size() - at && known.contains(text.substr(at, bytes));
    });
    if (size != sizes.end()) found.push_back({at, at + *size});
    at += size != sizes.end() ? *size : 1;
  }
  return found;
}

// Words with these places as words of their own.
std::vector<TextSpan> with_places(const std::vector<TextSpan>& places, const std::vector<TextSpan>& words) {
  std::vector<TextSpan> all;
  size_t next = 0;
  for (TextSpan word : words) {
    for (; next < places.size() && places[next].begin < word.end; ++next) {
      if (places[next].begin > word.begin) all.push_back({word.begin, places[next].begin});
      all.push_back(places[next]);
      word.begin = std::max(word.begin, places[next].end);
    }
    if (!all.empty()) word.begin = std::max(word.begin, all.back().end);
    if (word.begin < word.end) all.push_back(word);
  }
  return all;
}

}  // namespace

std::vector<TextSpan> words_of(std::string_view text, std::span<const std::string> directives) {
  std::vector<TextSpan> words;
  size_t begin = 0;
  for (const size_t end : breaks_in(text, BreakKind::word)) {
    const TextSpan word = {begin, end};
    if (leading_space(word.of(text)) == 0) words.push_back(word);
    begin = end;
  }
  return with_places(occurrences(directives, text), with_whole(find_placeholders(text), words));
}

WordLinks::WordLinks(std::string_view source, std::string_view translation, std::span<const TextLink> links,
                     std::span<const std::string> directives)
    : translation_(translation), words_(words_of(translation, directives)), source_spans_(words_.size()) {
  for (const TextSpan word : words_) {
    const bool plain = has_word_characters(word.of(translation));
    weights_.push_back(plain ? 1 : weight_of_punctuation);
  }
  for (const TextLink& link : links) {
    auto word = std::ranges::upper_bound(words_, link.target.begin, {}, &TextSpan::end);
    for (; word != words_.end() && word->begin < link.target.end; ++word) {
      const size_t common = std::min(word->end, link.target.end) - std::max(word->begin, link.target.begin);
      source_spans_[static_cast<size_t>(word - words_.begin())].push_back(
          {static_cast<double>(link.source.begin), static_cast<double>(link.source.end),
           static_cast<double>(common)});
    }
  }
  if (links.empty()) {
    const double scale = double(source.size()) / std::max<double>(1, double(translation.size()));
    for (size_t i = 0; i < words_.size(); ++i)
      source_spans_[i] = {{scale * double(words_[i].begin), scale * double(words_[i].end), 1}};
  }
  for (size_t i = 0; i < words_.size(); ++i) {
    for (const SourceSpan& span : source_spans_[i]) centres_.push_back({(span.begin + span.end) / 2, i});
  }
  std::ranges::stable_sort(centres_, {}, &SpanCentre::place);
}

double WordLinks::share_from(TextSpan source, size_t word) const {
  double from = 0, all = 0;
  for (const SourceSpan& span : source_spans_[word]) {
    const double centre = (span.begin + span.end) / 2;
    all += span.weight;
    if (static_cast<double>(source.begin) <= centre && centre < static_cast<double>(source.end))
      from += span.weight;
  }
  return from / all;
}

// The run with the largest sum, by Kadane's algorithm; of equal ones the shortest.
WordRange WordLinks::words_from(TextSpan source, WordRange range,
                                const std::function<bool(size_t word)>& free) const {
  // It begins and ends with words from there.
  size_t first = range.end, end = range.begin;
  for (auto m = std::ranges::lower_bound(centres_, double(source.begin), {}, &SpanCentre::place);
       m != centres_.end() && m->place < double(source.end); ++m) {
    if (m->word < range.begin || m->word >= range.end) continue;
    first = std::min(first, m->word);
    end = std::max(end, m->word + 1);
  }
  WordRange best, run = {first, first};
  double best_sum = 0, sum = 0;
  for (size_t i = first; i < end; ++i) {
    run.end = i + 1;
    if (free(i) && !source_spans_[i].empty()) sum += weights_[i] * (2 * share_from(source, i) - 1);
    if (!free(i) || sum <= 0) {
      run.begin = i + 1;
      sum = 0;
    } else if (sum > best_sum) {
      best_sum = sum;
      best = run;
    }
  }
  return best;
}

WordRange WordLinks::near(size_t place, WordRange range) const {
  constexpr std::ptrdiff_t spans_beside = 16;
  const auto centre = std::ranges::lower_bound(centres_, double(place), {}, &SpanCentre::place);
  const auto begin = centre - std::min(spans_beside, centre - centres_.begin());
  const auto end = centre + std::min(spans_beside, centres_.end() - centre);
  WordRange found = {range.end, range.begin};
  for (auto m = begin; m != end; ++m) {
    if (m->word < range.begin || m->word >= range.end) continue;
    found.begin = std::min(found.begin, m->word);
    found.end = std::max(found.end, m->word + 1);
  }
  return found.begin < found.end ? found : range;
}

std::vector<double> WordLinks::crossings(size_t place, WordRange range) const {
  std::vector<double> wrong(range.end - range.begin + 1, 0.0);
  double before_all = 0;  // weight of the words that belong before the place
  for (size_t i = range.begin; i < range.end; ++i) {
    if (!source_spans_[i].empty()) before_all += weights_[i] * share_from({0, place}, i);
  }
  double before = 0, after = 0;  // of those on the left
  for (size_t k = 0; k < wrong.size(); ++k) {
    wrong[k] = after + (before_all - before);
    const size_t word = range.begin + k;
    if (word == range.end || source_spans_[word].empty()) continue;
    const double share = share_from({0, place}, word);
    before += weights_[word] * share;
    after += weights_[word] * (1 - share);
  }
  return wrong;
}

}  // namespace dragoman::internal
