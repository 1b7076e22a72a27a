// Where the texts of a subtitle file are, and when they are shown.
#pragma once

#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct Cue {
  std::vector<TextSpan> lines;  // of its text, without their line breaks
  double begin = 0, end = 0;    // in seconds
};

// SubRip: a cue's text ends where the number and the time of the next cue begin, so that empty lines in it do no harm.
std::vector<Cue> srt_cues(std::string_view file, const DocumentSettings& settings);

// WebVTT: blocks between empty lines; those without a time (NOTE, STYLE, REGION) are not cues.
std::vector<Cue> vtt_cues(std::string_view file, const DocumentSettings& settings);

}  // namespace dragoman::internal
