// Subtitles: SubRip (.srt) and WebVTT (.vtt). A sentence that runs over lines or cues is one segment.
#pragma once

#include "document/document.h"

namespace dragoman::internal {

Document read_srt(std::string_view bytes, const DocumentSettings& settings);
Document read_vtt(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
