// What somebody has translated before, as the Translator looks it up: by a function, as memories are above this
// room.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/options.h"
#include "search/request.h"
#include "search/saved_model.h"
#include "search/segments.h"

namespace dragoman::internal {

struct KnownSegment {
  std::string source, target;
  double similarity = 0;
  bool exact = false;  // the source is the text, as far as the options ask

  bool operator==(const KnownSegment&) const = default;
};

// Of so many similar segments those are chosen whose states are computed.
constexpr int64_t known_candidates = 16;

// The most similar segments first, as similar as the options say: known_candidates, or where these ask for no segments
// exact ones alone. From any thread.
using LookUpSegments =
    std::function<std::vector<KnownSegment>(std::string_view text, const SearchOptions& options)>;

// What is known of a line's segments, and which of it was used.
struct KnownOfLine {
  std::vector<std::vector<Neighbour>> neighbours = {};  // of each segment
  std::vector<KnownSegment> used = {};                  // each once
};

// Segments that are known get their translation, where take_exact says so. A line that is known as a whole becomes one
// segment.
KnownOfLine find_known(const LookUpSegments& look_up, const SavedModel& model, const Direction& direction,
                       const SearchOptions& options, std::string_view line, bool take_exact,
                       std::vector<Segment>& segments);

}  // namespace dragoman::internal
