// A prefix that is given for a line's output, sentence by sentence.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "search/segments.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct GivenPrefix {
  std::vector<std::vector<int32_t>> of_segments;
  size_t ends_in =
      0;  // the segment that it leaves open: other translations differ from there to the sentence's end
};

// The prefix's sentences are those of the line, in order. All but the last are whole outputs, with their end mark, and
// so is the last where white space follows its final punctuation. What is left over is the prefix of the line's last
// sentence.
GivenPrefix prefixes_of_segments(std::string_view prefix, const std::vector<Segment>& segments,
                                 const Vocabulary& target, std::string_view language);

}  // namespace dragoman::internal
