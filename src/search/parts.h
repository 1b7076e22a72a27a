// A line cut into parts that a model can translate: one, unless it is longer than the sentences that were learnt from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/saved_model.h"

namespace dragoman {

struct Part {
  std::vector<int32_t> ids;     // with the end mark, if sources have one
  std::vector<TextSpan> spans;  // the bytes of the line that each stands for; none for the end mark
  std::string space;            // between it and the next
  bool cut = false;             // it ends or begins inside a sentence
};

// A long line is parted between its sentences, which keep the white space between them; a sentence that is too long
// by itself where a word begins, or if need be inside a word. No text is left out. A signal to stop ends it: Stopped.
std::vector<Part> split_line(const SavedModel& model, std::string_view text);

}  // namespace dragoman
