// A line of a subtitle's text: the speaker, sounds, and speech.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/segments/inline_text.h"

namespace dragoman::internal {

struct SubtitleStretch {
  InlineRun run;
  bool begins = false;     // a segment begins with it: another person speaks
  bool ends = false;       // a segment ends with it: a sound
  std::string voice = {};  // the WebVTT tag before it: <v Mary>
};

// Without dashes and names of speakers ("- JOHN:"), which stay as they are. [music] is a stretch of its own, and so is
// what stands between notes (♪).
std::vector<SubtitleStretch> stretches_of(std::string_view file, TextSpan line, bool is_vtt);

}  // namespace dragoman::internal
