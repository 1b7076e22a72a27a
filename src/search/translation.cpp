#include "search/translation.h"

#include <algorithm>

namespace dragoman {
namespace {

void replace_line_ends(std::string& text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
}

std::vector<TextSpan> source_spans(const std::vector<Segment>& parts, const std::string& line) {
  std::vector<TextSpan> bytes;
  for (const Segment& part : parts) bytes.insert(bytes.end(), part.spans.begin(), part.spans.end());
  return in_code_points(line, bytes);
}

void align(const std::vector<const ScoredHypothesis*>& found, const std::vector<Segment>& parts,
           const std::string& line, const std::vector<TextSpan>& spans, Translation& all) {
  std::vector<PieceAttention> attention;
  size_t first = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t i = 0; i < found[part]->hypothesis.tokens.size(); ++i) {
      const std::vector<float>& row = found[part]->attention[i];
      all.pieces[attention.size()].aligned = first + max_attended(row, parts[part].ids, parts[part].end);
      attention.push_back({first, row});
    }
    first += parts[part].ids.size();
  }
  all.alignment = align_words(line, source_spans(parts, line), all.text, spans, attention);
  for (size_t i = 0; i < attention.size(); ++i) all.pieces[i].attention = std::move(attention[i]);
}

}  // namespace

Translation join(const std::vector<const ScoredHypothesis*>& found, const std::vector<Segment>& parts,
                 const std::string& line, const Vocabulary& target, const SearchOptions& options) {
  Translation all;
  std::vector<TextSpan> spans;  // of the pieces, in bytes
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto& [h, attention] = *found[part];
    TextOfPieces said = target.decode_with_spans(h.tokens);
    if (options.replace_unknown)
      replace_unknown(said, h.tokens, target.special().unknown, attention, line, parts[part]);
    for (size_t i = 0; i < h.tokens.size(); ++i) {
      all.pieces.push_back({target.piece(h.tokens[i]), h.log_probabilities[i]});
      spans.push_back({all.text.size() + said.spans[i].begin, all.text.size() + said.spans[i].end});
    }
    all.text += said.text + parts[part].space;
    all.score += h.score;
  }
  replace_line_ends(all.text);
  spans = in_code_points(all.text, spans);
  for (size_t i = 0; i < spans.size(); ++i) all.pieces[i].span = spans[i];
  if (options.alignment) align(found, parts, line, spans, all);
  return all;
}

std::vector<SourcePiece> source_pieces(const std::vector<Segment>& parts, const std::string& line,
                                       const Vocabulary& source) {
  const std::vector<TextSpan> spans = source_spans(parts, line);
  std::vector<SourcePiece> pieces;
  for (const Segment& part : parts) {
    for (const int32_t id : part.ids) pieces.push_back({source.piece(id), spans[pieces.size()]});
  }
  return pieces;
}

}  // namespace dragoman
