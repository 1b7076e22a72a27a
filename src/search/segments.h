// Splits a line into segments that the models can translate: a single one unless it exceeds the length of a model's
// training sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/attention.h"
#include "search/saved_model.h"

namespace dragoman::internal {

struct Segment {
  std::vector<int32_t> ids;     // the first model's, with the marks that its sources have
  SourceMarks marks;            // which these are
  std::vector<TextSpan> spans;  // of each in the line, in bytes; empty for the marks
  std::vector<std::vector<int32_t>> other_ids = {};  // each other model's, of the same text; never empty
  std::string space;                                 // white space between it and the next
  size_t sentence = 0;                               // which of the line's it is, or is a part of
  bool cut = false;  // it begins or ends inside a sentence, or has a subword too long for one of the models
  std::optional<std::string> known = {};  // its translation, which is not searched for
};

// The bytes of the line that its text has; {SIZE_MAX, 0} where it consists of marks.
TextSpan extent_of(const Segment& segment);

// A line that is too long, or any line if the direction says so, is split between its sentences, which keep the white
// space between them; a sentence that is too long by itself where a word begins, or if need be inside a word, always
// between subwords of the first model. No text is left out, except what is one subword to the first model and too long
// for another one. A tag such as >>fra<< that the line begins with is read with each segment. A signal to stop throws
// Stopped.
std::vector<Segment> split_line(const SavedModel& model, std::string_view text, const Direction& direction);
std::vector<Segment> split_line(const SavedModel& model, std::string_view text,
                                const SearchOptions& options = {});

}  // namespace dragoman::internal
