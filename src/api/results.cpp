#include "api/results.h"

#include <algorithm>
#include <cmath>

#include "search/alignment.h"
#include "text/spans.h"

namespace dragoman {
namespace internal {
namespace {

dragoman::Span to_public(TextSpan span) { return {span.begin, span.end}; }

dragoman::Hypothesis to_public(Translation&& translation) {
  dragoman::Hypothesis hypothesis = {.text = std::move(translation.text),
                                     .score = translation.score,
                                     .tokens = {},
                                     .alignment = to_public(translation.alignment)};
  hypothesis.tokens.reserve(translation.pieces.size());
  for (ScoredPiece& piece : translation.pieces) {
    hypothesis.tokens.push_back({.text = std::move(piece.piece),
                                 .log_probability = piece.log_probability,
                                 .span = to_public(piece.span),
                                 .source = piece.aligned,
                                 .attention_begin = piece.attention.first,
                                 .attention = std::move(piece.attention.weights)});
  }
  return hypothesis;
}

// Nothing without its tokens, unless there are no words either, where the source has some.
void add_confidences(const Calibration* calibration, const std::string& source,
                     dragoman::Hypothesis& hypothesis) {
  if (hypothesis.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    if (const double confidence = confidence_without_words(source); confidence < 1)
      hypothesis.calibrated = confidence;
    return;
  }
  if (calibration == nullptr || hypothesis.tokens.empty()) return;
  Confidences found = calibration->confidences({source, hypothesis.text, scored_tokens(hypothesis)});
  hypothesis.calibrated = found.text;
  hypothesis.calibrated_words = std::move(found.words);
}

}  // namespace

std::vector<ScoredToken> scored_tokens(const dragoman::Hypothesis& hypothesis) {
  std::vector<ScoredToken> tokens;
  for (const Token& token : hypothesis.tokens)
    tokens.push_back({{token.span.begin, token.span.end}, static_cast<double>(token.log_probability)});
  return tokens;
}

std::vector<WordAlignment> to_public(const std::vector<WordPair>& pairs) {
  std::vector<WordAlignment> all;
  for (const WordPair& pair : pairs)
    all.push_back({pair.source, pair.target, to_public(pair.source_span), to_public(pair.target_span)});
  return all;
}

dragoman::Translation to_public(TranslatedLine line, const Calibration* calibration) {
  dragoman::Translation translation = {.source = std::move(line.source),
                                       .hypotheses = {},
                                       .source_tokens = {},
                                       .invalid = line.invalid,
                                       .cut = line.cut,
                                       .unknown = line.unknown,
                                       .repeats = line.repeats,
                                       .terms_missed = line.terms_missed,
                                       .too_short = line.too_short,
                                       .unlikely = line.unlikely,
                                       .memory = line.memory,
                                       .memory_segments = {}};
  for (KnownSegment& known : line.known)
    translation.memory_segments.push_back(
        {std::move(known.source), std::move(known.target), known.similarity, known.exact});
  for (Translation& one : line.translations) {
    translation.hypotheses.push_back(to_public(std::move(one)));
    // What a person confirmed is certain.
    if (!line.memory) add_confidences(calibration, translation.source, translation.hypotheses.back());
  }
  for (SourcePiece& piece : line.pieces)
    translation.source_tokens.push_back({std::move(piece.piece), to_public(piece.span)});
  return translation;
}

}  // namespace internal

std::vector<WordConfidence> Hypothesis::words() const {
  const std::vector<internal::TextSpan> spans = internal::word_spans(text);
  std::vector<WordConfidence> all;
  for (const internal::TextSpan& span : spans) all.push_back({{span.begin, span.end}, 1});
  if (calibrated) {
    // Whoever changed the text may have given it more words.
    const size_t known = std::min(all.size(), calibrated_words.size());
    for (size_t i = 0; i < known; ++i) all[i].confidence = calibrated_words[i];
    return all;
  }
  size_t word = 0;
  for (const Token& token : tokens) {
    while (word + 1 < all.size() && all[word].span.end <= token.span.begin) ++word;
    if (word < all.size() && token.span.begin < token.span.end)
      all[word].confidence *= std::exp(static_cast<double>(token.log_probability));
  }
  return all;
}

double Hypothesis::confidence() const {
  if (calibrated) return *calibrated;
  if (tokens.empty()) return 1;
  double sum = 0;
  for (const Token& token : tokens) sum += static_cast<double>(token.log_probability);
  return std::exp(sum / static_cast<double>(tokens.size()));
}

}  // namespace dragoman
