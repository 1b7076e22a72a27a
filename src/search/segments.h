// A line cut into parts that the models can translate: one, unless it is longer than the sentences that one of them
// learnt from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/saved_model.h"

namespace dragoman {

struct Segment {
  std::vector<int32_t> ids;     // the first model's, with the end mark, if its sources have one
  int32_t end = -1;             // the id of that end mark
  std::vector<TextSpan> spans;  // the bytes of the line that each stands for; none for the end mark
  std::vector<std::vector<int32_t>> other_ids = {};  // each other model's, of the same text; never empty
  std::string space;                                 // between it and the next
  bool cut = false;  // it ends or begins inside a sentence, or has a piece that a model cannot read whole
};

// A long line is parted between its sentences, which keep the white space between them; a sentence that is too long
// by itself where a word begins, or if need be inside a word, always between pieces of the first model. No text is left
// out, but for what is too long for another model and one piece to the first. A signal to stop ends it: Stopped.
std::vector<Segment> split_line(const SavedModel& model, std::string_view text);

}  // namespace dragoman
