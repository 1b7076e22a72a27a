// Translation: the text of a line's parts put together, with its pieces and, where it is asked for, its alignment.
#pragma once

#include <string>
#include <vector>

#include "search/alignment.h"
#include "search/beam.h"
#include "search/segments.h"

namespace dragoman {

// Spans are in code points of the line's source or of the translation's text; white space is in none of them.
struct SourcePiece {
  std::string piece;
  TextSpan span;
};

struct ScoredPiece {
  std::string piece;
  float log_probability;
  TextSpan span = {};
  // Where alignment is asked for:
  size_t aligned = 0;  // the number of the source piece that it attended to most
  PieceAttention attention = {};
};

struct Translation {
  std::string text;  // without line ends
  double score = 0;  // of several parts: their sum
  std::vector<ScoredPiece> pieces;
  std::vector<WordPair> alignment;  // where it is asked for
};

// A finished hypothesis, and what it attended to where options ask for that.
struct ScoredHypothesis {
  Hypothesis hypothesis;
  AttentionRows attention;
};

// `found` has one for each part of the line.
Translation join(const std::vector<const ScoredHypothesis*>& found, const std::vector<Segment>& parts,
                 const std::string& line, const Vocabulary& target, const SearchOptions& options);

// All pieces of a line's parts, their end marks too.
std::vector<SourcePiece> source_pieces(const std::vector<Segment>& parts, const std::string& line,
                                       const Vocabulary& source);

}  // namespace dragoman
