// Translation: the text of a line's segments put together, with its subwords and, where it is asked for, its alignment.
#pragma once

#include <string>
#include <vector>

#include "search/alignment.h"
#include "search/known_segments.h"
#include "search/request.h"
#include "search/segments.h"

namespace dragoman::internal {

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
  std::string text;  // with the source's line ends
  double score = 0;  // of several segments: their sum
  std::vector<ScoredPiece> pieces;
  std::vector<WordPair> alignment;  // where it is asked for
};

struct TranslatedLine {
  std::string source;                            // as it was read, repaired where it was not valid UTF-8
  std::vector<Translation> translations = {{}};  // the best first, at least one; their texts differ
  std::vector<SourcePiece> pieces = {};          // of the source, where alignment is asked for

  bool invalid = false;       // the source was not valid UTF-8
  bool cut = false;           // a sentence was split, or an output ended at its maximum length
  bool unknown = false;       // the source has characters that the model does not know, or the output does
  bool repeats = false;       // the output looped, and was translated again
  bool terms_missed = false;  // a term that was given is not in the output
  bool too_short =
      false;  // the output is so much shorter than the source that a part of it is likely missing
  // Of a few words: the output probably has nothing to do with them (unlikely.h). With the option keep_source the best
  // translation is the source, with its pieces.
  bool unlikely = false;
  bool memory = false;                   // all of it is what somebody has translated before, as it is
  std::vector<KnownSegment> known = {};  // what was used of that
};

// A line, and what its searches have found.
struct SearchedLine {
  std::string source;
  bool invalid = false, repeats = false, terms_missed = false;
  std::vector<std::vector<std::string>> wanted = {};  // targets of terms that no search was made to write
  bool judged = false;  // whether its translation may be unlikely: all of it is the model's own choice
  std::vector<Segment> segments = {};
  std::vector<KnownSegment> known = {};  // that were used
  std::vector<std::vector<ScoredHypothesis>> hypotheses =
      {};  // of each segment, the best first; none: not finished
};

// Whether a text has none of a term's targets, with whatever white space.
bool is_missed(const std::vector<std::string>& targets, const std::string& text);

// What becomes of a line whose segments are all finished.
// `tokens`: whether its translations have their pieces.
TranslatedLine translated_line(const SearchedLine& line, const Vocabularies& vocabularies,
                               const SearchOptions& options, bool tokens);

// The beginning of its best translation, of whole characters.
struct PartialText {
  std::string text;
  size_t final_bytes = 0;  // this many of the first will stay

  bool operator==(const PartialText&) const = default;
};

// The text of the first segments, as many as were finished when it was asked for: a long text is not put together
// again at every step.
struct FinishedText {
  size_t segments = 0;
  std::string text = {};
};

// `progress`: of each segment. The text goes as far as the first one that is not finished. `finished`: the same one in
// each call for a line.
PartialText partial_text(const SearchedLine& line, const std::vector<SearchProgress>& progress,
                         const Vocabulary& target, const SearchOptions& options, FinishedText& finished);

}  // namespace dragoman::internal
