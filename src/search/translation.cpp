#include "search/translation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/utf8.h"
#include "search/unlikely.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

bool has_unknown(std::span<const int32_t> ids, const Vocabulary& vocabulary) {
  return std::ranges::find(ids, vocabulary.special().unknown) != ids.end();
}

// The best hypothesis of each segment, or that of another rank; the last one where a segment has fewer.
using SegmentHypotheses = std::vector<const ScoredHypothesis*>;
SegmentHypotheses hypotheses_of_rank(const SearchedLine& line, size_t rank) {
  SegmentHypotheses all;
  for (const auto& hypotheses : line.hypotheses)
    all.push_back(&hypotheses[std::min(rank, hypotheses.size() - 1)]);
  return all;
}

std::vector<TextSpan> source_spans(const SearchedLine& line) {
  std::vector<TextSpan> bytes;
  for (const Segment& segment : line.segments)
    bytes.insert(bytes.end(), segment.spans.begin(), segment.spans.end());
  return in_code_points(line.source, bytes);
}

// The subwords of the source, end marks too.
std::vector<SourcePiece> source_pieces(const SearchedLine& line, const Vocabulary& source) {
  const std::vector<TextSpan> spans = source_spans(line);
  std::vector<SourcePiece> pieces;
  for (const Segment& segment : line.segments) {
    for (const int32_t id : segment.ids) pieces.push_back({source.piece(id), spans[pieces.size()]});
  }
  return pieces;
}

void align(const SearchedLine& line, const SegmentHypotheses& hypotheses, const std::vector<TextSpan>& spans,
           Translation& all) {
  std::vector<PieceAttention> attention;
  size_t first = 0;
  for (size_t s = 0; s < line.segments.size(); ++s) {
    for (size_t i = 0; i < hypotheses[s]->hypothesis.tokens.size(); ++i) {
      const std::vector<float>& row = hypotheses[s]->attention[i];
      all.pieces[attention.size()].aligned =
          first + max_attended(row, line.segments[s].ids, line.segments[s].marks);
      attention.push_back({first, row});
    }
    first += line.segments[s].ids.size();
  }
  all.alignment = align_words(line.source, source_spans(line), all.text, spans, attention);
  for (size_t i = 0; i < attention.size(); ++i) all.pieces[i].attention = std::move(attention[i]);
}

// In subwords, of which the two sides rarely have more than twice as many as each other.
bool is_too_short(size_t source, size_t output) { return source >= 10 && 5 * output < 2 * source; }

// Line ends are the source's alone.
void replace_line_ends(std::string& text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
}

TextOfPieces text_of(const ScoredHypothesis& h, const SearchedLine& line, const Segment& segment,
                     const Vocabulary& target, const SearchOptions& options) {
  if (segment.known) {
    TextOfPieces output = {.text = *segment.known, .spans = {}};
    if (!h.hypothesis.tokens.empty()) output.spans = target.encode_with_spans(output.text).spans;
    if (line.source.find('\n') == line.source.npos) replace_line_ends(output.text);
    return output;
  }
  TextOfPieces output = target.decode_with_spans(h.hypothesis.tokens);
  if (options.replace_unknown)
    replace_unknown(output, h.hypothesis.tokens, target.special().unknown, h.attention, line.source, segment);
  replace_line_ends(output.text);
  return output;
}

// Without the pieces.
Translation join_texts(const SearchedLine& line, const SegmentHypotheses& hypotheses,
                       const Vocabulary& target, const SearchOptions& options) {
  Translation all;
  for (size_t s = 0; s < line.segments.size(); ++s) {
    all.text +=
        text_of(*hypotheses[s], line, line.segments[s], target, options).text + line.segments[s].space;
    all.score += hypotheses[s]->hypothesis.score;
  }
  return all;
}

size_t count_tokens(const SegmentHypotheses& hypotheses) {
  size_t count = 0;
  for (const ScoredHypothesis* h : hypotheses) count += h->hypothesis.tokens.size();
  return count;
}

Translation join(const SearchedLine& line, const SegmentHypotheses& hypotheses, const Vocabulary& target,
                 const SearchOptions& options) {
  Translation all;
  std::vector<TextSpan> spans;  // of the subwords, in bytes
  spans.reserve(count_tokens(hypotheses));
  all.pieces.reserve(count_tokens(hypotheses));
  for (size_t s = 0; s < line.segments.size(); ++s) {
    const Hypothesis& h = hypotheses[s]->hypothesis;
    const TextOfPieces output = text_of(*hypotheses[s], line, line.segments[s], target, options);
    for (size_t i = 0; i < h.tokens.size(); ++i) {
      all.pieces.push_back({target.piece(h.tokens[i]), h.log_probabilities[i]});
      spans.push_back({all.text.size() + output.spans[i].begin, all.text.size() + output.spans[i].end});
    }
    all.text += output.text + line.segments[s].space;
    all.score += h.score;
  }
  spans = in_code_points(all.text, spans);
  for (size_t i = 0; i < spans.size(); ++i) all.pieces[i].span = spans[i];
  if (options.alignment) align(line, hypotheses, spans, all);
  return all;
}

// The geometric mean of the probabilities of the best translation's tokens.
double confidence_of(const SearchedLine& line) {
  double sum = 0;
  size_t count = 0;
  for (const auto& hypotheses : line.hypotheses) {
    const Hypothesis& best = hypotheses[0].hypothesis;
    for (size_t i = 0; i < best.tokens.size(); ++i) sum += static_cast<double>(best.log_probabilities[i]);
    count += best.tokens.size();
  }
  return count == 0 ? 1 : std::exp(sum / static_cast<double>(count));
}

// Its pieces are then the source's, each as probable as those of the output were in the mean, so that its confidence is
// the output's.
void give_back_source(const SearchedLine& line, const Vocabulary& source, double confidence,
                      TranslatedLine& result, bool with_alignment) {
  Translation& best = result.translations.front();
  const bool has_pieces = !best.pieces.empty();
  best = {.text = line.source, .score = best.score, .pieces = {}, .alignment = {}};
  const std::vector<SourcePiece> pieces = source_pieces(line, source);
  for (size_t i = 0; has_pieces && i < pieces.size(); ++i) {
    if (pieces[i].span.begin == pieces[i].span.end) continue;  // a mark
    best.pieces.push_back({pieces[i].piece, static_cast<float>(std::log(confidence)), pieces[i].span, i, {}});
    if (!with_alignment) continue;
    best.pieces.back().attention.weights.resize(pieces.size());
    best.pieces.back().attention.weights[i] = 1;
  }
  const std::vector<TextSpan> words = with_alignment ? word_spans(line.source) : std::vector<TextSpan>();
  for (size_t i = 0; i < words.size(); ++i) best.alignment.push_back({i, i, words[i], words[i]});
  const auto same = std::remove_if(result.translations.begin() + 1, result.translations.end(),
                                   [&](const Translation& other) { return other.text == best.text; });
  result.translations.erase(same, result.translations.end());
}

// Bytes of byte fallback, <0xE2>, that begin a character and do not end it, are left out.
size_t without_partial_character(const Vocabulary& target, std::span<const int32_t> tokens) {
  std::string bytes;
  for (const int32_t id : tokens.last(std::min<size_t>(tokens.size(), 3)))
    bytes += target.byte_of(id).value_or('\0');
  return tokens.size() - unfinished_bytes(bytes);
}

// The word in place of an unknown one is known when the search is over.
size_t final_tokens(const SearchProgress& progress, const Vocabulary& target, const SearchOptions& options) {
  auto tokens = std::span(progress.tokens).first(progress.final_tokens);
  if (options.replace_unknown) {
    const auto unknown = std::ranges::find(tokens, target.special().unknown);
    tokens = tokens.first(static_cast<size_t>(unknown - tokens.begin()));
  }
  return without_partial_character(target, tokens);
}

}  // namespace

bool is_missed(const std::vector<std::string>& targets, const std::string& text) {
  const auto is_in = [&](const std::string& target) { return text.find(single_spaced(target)) != text.npos; };
  return std::ranges::none_of(targets, is_in);
}

TranslatedLine translated_line(const SearchedLine& line, const Vocabularies& vocabularies,
                               const SearchOptions& options, bool tokens) {
  TranslatedLine result = {.source = line.source,
                           .invalid = line.invalid,
                           .repeats = line.repeats,
                           .terms_missed = line.terms_missed,
                           .memory = !line.segments.empty(),
                           .known = line.known};
  size_t ranks = 1;
  for (size_t s = 0; s < line.segments.size(); ++s) {
    const Hypothesis& best = line.hypotheses[s][0].hypothesis;
    ranks = std::max(ranks, line.hypotheses[s].size());
    if (line.segments[s].known) continue;
    result.memory = false;
    result.cut |= line.segments[s].cut || best.cut;
    result.terms_missed |= best.terms.missed() > 0;
    result.too_short |= is_too_short(line.segments[s].ids.size(), best.tokens.size());
    result.unknown |= has_unknown(line.segments[s].ids, *vocabularies.source) ||
                      has_unknown(best.tokens, *vocabularies.target);
  }
  if (options.alignment) result.pieces = source_pieces(line, *vocabularies.source);
  const auto join_all = tokens || options.alignment ? join : join_texts;
  result.translations.clear();
  result.translations.push_back(join_all(line, hypotheses_of_rank(line, 0), *vocabularies.target, options));
  for (size_t rank = 1; rank < ranks; ++rank) {
    Translation next = join_all(line, hypotheses_of_rank(line, rank), *vocabularies.target, options);
    if (!std::ranges::count(result.translations, next.text, &Translation::text))
      result.translations.push_back(std::move(next));
  }
  const std::string best = line.wanted.empty() ? "" : single_spaced(result.translations[0].text);
  for (const std::vector<std::string>& targets : line.wanted) result.terms_missed |= is_missed(targets, best);
  if (!line.judged) return result;
  const double confidence = confidence_of(line);
  result.unlikely = is_unlikely(line.source, result.translations[0].text, confidence);
  if (result.unlikely && options.keep_source)
    give_back_source(line, *vocabularies.source, confidence, result, options.alignment);
  return result;
}

PartialText partial_text(const SearchedLine& line, const std::vector<SearchProgress>& progress,
                         const Vocabulary& target, const SearchOptions& options, FinishedText& finished) {
  size_t& s = finished.segments;
  for (; s < line.segments.size() && !line.hypotheses[s].empty(); ++s) {
    const Segment& segment = line.segments[s];
    finished.text += text_of(line.hypotheses[s][0], line, segment, target, options).text + segment.space;
  }
  PartialText all = {.text = finished.text, .final_bytes = finished.text.size()};
  if (s < line.segments.size()) {
    const auto tokens = std::span(progress[s].tokens);
    const size_t shown = without_partial_character(target, tokens),
                 fixed = final_tokens(progress[s], target, options);
    TextOfPieces output = target.decode_with_spans(tokens.first(shown));
    replace_line_ends(output.text);
    if (fixed > 0) all.final_bytes += output.spans[fixed - 1].end;
    all.text += output.text;
  }
  return all;
}

}  // namespace dragoman::internal
