// Which words of a source the words of its translation come from, by what its pieces attended to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/attention.h"
#include "search/segments.h"
#include "text/vocabulary.h"

namespace dragoman {

// What a piece of the output attended to among all the pieces of its line: those from number `first` on; the rest are
// of other parts of the line.
struct PieceAttention {
  size_t first = 0;
  std::vector<float> weights;
};

// Numbers of words, which white space parts, and where they stand in their texts, in code points.
struct WordPair {
  size_t source, target;
  TextSpan source_span, target_span;
};

// For each word of the target, in their order, the word of the source that its pieces attended to most; none where
// they saw no word. Spans are of pieces, in code points.
std::vector<WordPair> align_words(std::string_view source, const std::vector<TextSpan>& source_spans,
                                  std::string_view target, const std::vector<TextSpan>& target_spans,
                                  const std::vector<PieceAttention>& attention);

// As Pharaoh wrote it: "0-0 1-2", a source word and a target word each.
std::string pharaoh(const std::vector<WordPair>& pairs);

// In the text of an output's `tokens`, each unknown one becomes the word of the line that the piece which it attended
// to most belongs to, without the punctuation around it; neighbours that are aligned to one word become it together.
// One that is aligned to nothing but an end mark stays.
void replace_unknown(TextOfPieces& said, const std::vector<int32_t>& tokens, int32_t unknown,
                     const AttentionRows& rows, std::string_view line, const Segment& part);

}  // namespace dragoman
