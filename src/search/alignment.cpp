#include "search/alignment.h"

#include <algorithm>
#include <optional>
#include <span>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// How much a word of the target attended to each word of the source. Only a contiguous part is nonzero: in a long
// line, the words of one segment.
class WordSums {
 public:
  explicit WordSums(size_t source_words) : sums_(source_words) {}

  // `word_of_source`: of each subword of the source, or −1.
  void add(const PieceAttention& piece, const std::vector<std::ptrdiff_t>& word_of_source) {
    for (size_t i = 0; i < piece.weights.size(); ++i) {
      const std::ptrdiff_t word = word_of_source[piece.first + i];
      if (word >= 0) add(static_cast<size_t>(word), piece.weights[i]);
    }
  }
  // The word that got most, the first among equals; none where none got any. Resets the sums.
  std::optional<size_t> take_best() {
    const std::span<float> stretch = std::span(sums_).subspan(begin_, end_ - begin_);
    const auto best = std::ranges::max_element(stretch);
    const bool found = best != stretch.end() && *best > 0;
    const size_t word = begin_ + static_cast<size_t>(best - stretch.begin());
    std::ranges::fill(stretch, 0.0F);
    begin_ = end_ = 0;
    return found ? std::optional(word) : std::nullopt;
  }

 private:
  void add(size_t word, float weight) {
    if (begin_ == end_) begin_ = end_ = word;
    begin_ = std::min(begin_, word);
    end_ = std::max(end_, word + 1);
    sums_[word] += weight;
  }

  std::vector<float> sums_;
  size_t begin_ = 0, end_ = 0;
};

std::vector<std::ptrdiff_t> words_at(const std::vector<TextSpan>& words, const std::vector<TextSpan>& spans) {
  std::vector<std::ptrdiff_t> numbers;
  for (const TextSpan& span : spans) numbers.push_back(word_at(words, span));
  return numbers;
}

size_t utf8_size(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

TextSpan without_outer_punctuation(std::string_view line, TextSpan word) {
  const std::u32string points = code_points(line.substr(word.begin, word.end - word.begin));
  size_t first = 0, last = points.size();
  for (; first < last && is_punctuation(points[first]); ++first) word.begin += utf8_size(points[first]);
  for (; first < last && is_punctuation(points[last - 1]); --last) word.end -= utf8_size(points[last - 1]);
  return word;
}

// The word that contains these bytes: up to white space, without the punctuation around it. Punctuation by itself stays
// as it is, and white space is not a word.
TextSpan word_around(std::string_view line, TextSpan bytes) {
  constexpr std::string_view white = " \t\n\v\f\r";
  const size_t first = line.find_first_not_of(white, bytes.begin);
  if (first == line.npos || first >= bytes.end) return {};
  const size_t before = line.find_last_of(white, first), after = line.find_first_of(white, first);
  const TextSpan word =
      without_outer_punctuation(line, {before == line.npos ? 0 : before + 1, std::min(after, line.size())});
  return first < word.end && bytes.end > word.begin ? word : TextSpan{first, bytes.end};
}

// Puts a word in place of the subwords from `first` to `last`, with a space on each side where there is none. Words
// keep their own spacing.
void replace(TextOfPieces& output, size_t first, size_t last, std::string_view word) {
  const TextSpan span = {output.spans[first].begin, output.spans[last].end};
  const auto is_space_at = [&](size_t at) { return output.text[at] == ' '; };
  std::string with(word);
  if (span.begin > 0 && is_space_at(output.of_words ? span.begin : span.begin - 1) == output.of_words)
    with.insert(0, " ");
  if (!output.of_words && span.end < output.text.size() && !is_space_at(span.end)) with += " ";
  output.text.replace(span.begin, span.end - span.begin, with);
  const auto move = [&](size_t at) { return at - span.end + span.begin + with.size(); };
  for (size_t i = first; i <= last; ++i) output.spans[i] = {span.begin, move(span.end)};
  for (size_t i = last + 1; i < output.spans.size(); ++i)
    output.spans[i] = {move(output.spans[i].begin), move(output.spans[i].end)};
}

}  // namespace

std::vector<WordPair> align_words(std::string_view source, const std::vector<TextSpan>& source_spans,
                                  std::string_view target, const std::vector<TextSpan>& target_spans,
                                  const std::vector<PieceAttention>& attention) {
  const std::vector<TextSpan> source_words = word_spans(source), target_words = word_spans(target);
  const auto of_source = words_at(source_words, source_spans),
             of_target = words_at(target_words, target_spans);
  std::vector<WordPair> pairs;
  WordSums sums(source_words.size());
  std::ptrdiff_t word = -1;  // whose sums these are
  const auto end_word = [&] {
    if (const auto best = sums.take_best()) {
      const auto t = static_cast<size_t>(word);
      pairs.push_back({*best, t, source_words[*best], target_words[t]});
    }
  };
  for (size_t i = 0; i < attention.size(); ++i) {
    if (of_target[i] < 0) continue;
    if (of_target[i] != word) end_word();
    word = of_target[i];
    sums.add(attention[i], of_source);
  }
  end_word();
  return pairs;
}

void replace_unknown(TextOfPieces& output, const std::vector<int32_t>& tokens, int32_t unknown,
                     const AttentionRows& rows, std::string_view line, const Segment& segment) {
  const auto source_word = [&](size_t i) {
    if (tokens[i] != unknown) return TextSpan();
    return word_around(line, segment.spans[max_attended(rows[i], segment.ids, segment.marks)]);
  };
  for (size_t first = 0, last = 0; first < tokens.size(); first = ++last) {
    const TextSpan word = source_word(first);
    if (word == TextSpan()) continue;
    while (last + 1 < tokens.size() && source_word(last + 1) == word) ++last;
    replace(output, first, last, line.substr(word.begin, word.end - word.begin));
  }
}

}  // namespace dragoman::internal
