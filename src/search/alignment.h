// Word alignment: which words of a source the words of its translation come from, by what its subwords attended to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/attention.h"
#include "search/segments.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// What a subword of the output attended to, among all source subwords of its line: those of its own segment, from
// number `first` on.
struct PieceAttention {
  size_t first = 0;
  std::vector<float> weights;
};

// Numbers of words, which white space separates, and their spans in the texts, in code points.
struct WordPair {
  size_t source, target;
  TextSpan source_span, target_span;

  bool operator==(const WordPair&) const = default;
};

// For each word of the target, in order, the source word that its subwords attended to most; none where they attended
// to no word. Spans are of subwords, in code points.
std::vector<WordPair> align_words(std::string_view source, const std::vector<TextSpan>& source_spans,
                                  std::string_view target, const std::vector<TextSpan>& target_spans,
                                  const std::vector<PieceAttention>& attention);

// Replaces each unknown token in the text of an output by the source word that it attended to most, without the
// punctuation around it; neighbours that are aligned to the same word become one. A token that is aligned to an end
// mark stays.
void replace_unknown(TextOfPieces& output, const std::vector<int32_t>& tokens, int32_t unknown,
                     const AttentionRows& rows, std::string_view line, const Segment& segment);

}  // namespace dragoman::internal
