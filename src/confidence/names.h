// Names that a translation has lost or exchanged: Tom has become Tim.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// Names of the source that the translation lacks, in their order: words with an inner capital or with letters and
// digits (GStreamer, H264), and other capitalised words inside a sentence if the translation has such a word that the
// source lacks. A name may have another ending or other accents in the translation (Roma, Romain). For languages that
// write every noun with a capital, and those without capitals, there are none of the second kind.
std::vector<std::string> missing_names(std::string_view source, std::string_view translation);

}  // namespace dragoman::internal
