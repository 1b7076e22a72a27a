#include "search/alignment.h"

#include <algorithm>

#include <fmt/format.h>

namespace dragoman {
namespace {

// Sums of attention, a row for each word of the target and a column for each of the source.
std::vector<std::vector<float>> by_words(const std::vector<std::ptrdiff_t>& word_of_source,
                                         const std::vector<std::ptrdiff_t>& word_of_target,
                                         const std::vector<PieceAttention>& attention, size_t source_words,
                                         size_t target_words) {
  std::vector<std::vector<float>> sums(target_words, std::vector<float>(source_words));
  for (size_t t = 0; t < attention.size(); ++t) {
    if (word_of_target[t] < 0) continue;
    auto& row = sums[static_cast<size_t>(word_of_target[t])];
    for (size_t s = 0; s < attention[t].weights.size(); ++s) {
      const std::ptrdiff_t word = word_of_source[attention[t].first + s];
      if (word >= 0) row[static_cast<size_t>(word)] += attention[t].weights[s];
    }
  }
  return sums;
}

std::vector<std::ptrdiff_t> words_at(const std::vector<TextSpan>& words, const std::vector<TextSpan>& spans) {
  std::vector<std::ptrdiff_t> numbers;
  for (const TextSpan& span : spans) numbers.push_back(word_at(words, span));
  return numbers;
}

// The word that these bytes are of, with all that stands beside them up to white space.
std::string_view word_around(std::string_view line, TextSpan bytes) {
  constexpr std::string_view white = " \t\n\v\f\r";
  const size_t first = line.find_first_not_of(white, bytes.begin);
  if (first == line.npos || first >= bytes.end) return {};
  const size_t before = line.find_last_of(white, first), after = line.find_first_of(white, first);
  const size_t begin = before == line.npos ? 0 : before + 1;
  return line.substr(begin, std::min(after, line.size()) - begin);
}

// Puts a word where `span` is, with a space to each side where none is there.
void replace(TextOfPieces& said, size_t piece, std::string_view word) {
  const TextSpan span = said.spans[piece];
  const auto is_space_at = [&](size_t at) { return said.text[at] == ' '; };
  std::string with(word);
  if (span.begin > 0 && !is_space_at(span.begin - 1)) with.insert(0, " ");
  if (span.end < said.text.size() && !is_space_at(span.end)) with += " ";
  said.text.replace(span.begin, span.end - span.begin, with);
  const auto move = [&](size_t at) { return at - span.end + span.begin + with.size(); };
  said.spans[piece].end = move(span.end);
  for (size_t i = piece + 1; i < said.spans.size(); ++i)
    said.spans[i] = {move(said.spans[i].begin), move(said.spans[i].end)};
}

}  // namespace

std::vector<WordPair> align_words(std::string_view source, const std::vector<TextSpan>& source_spans,
                                  std::string_view target, const std::vector<TextSpan>& target_spans,
                                  const std::vector<PieceAttention>& attention) {
  const std::vector<TextSpan> source_words = word_spans(source), target_words = word_spans(target);
  const auto sums = by_words(words_at(source_words, source_spans), words_at(target_words, target_spans),
                             attention, source_words.size(), target_words.size());
  std::vector<WordPair> pairs;
  for (size_t t = 0; t < sums.size(); ++t) {
    const auto best = std::ranges::max_element(sums[t]);
    if (best == sums[t].end() || *best <= 0) continue;
    const auto s = static_cast<size_t>(best - sums[t].begin());
    pairs.push_back({s, t, source_words[s], target_words[t]});
  }
  return pairs;
}

std::string pharaoh(const std::vector<WordPair>& pairs) {
  std::string text;
  for (const WordPair& pair : pairs)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", pair.source, pair.target);
  return text;
}

void replace_unknown(TextOfPieces& said, const std::vector<int32_t>& tokens, const AttentionRows& rows,
                     std::string_view line, const Part& part) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != unknown_id) continue;
    const std::string_view word = word_around(line, part.spans[most_attended(rows[i], part.ids)]);
    if (!word.empty()) replace(said, i, word);
  }
}

}  // namespace dragoman
