// The target of a request line, read in one way only: a path that a proxy before us could take for another is refused.
// The text at the end of a translation memory's look-up, as tmserver's clients ask for it, may be any.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::internal {

struct Target {
  std::string path;  // decoded; "*" of OPTIONS
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string host = {};  // of the absolute form, which comes before that of the header
};

// Throws a FramingError where it is not a valid target.
Target read_target(std::string_view method, std::string_view target);

}  // namespace dragoman::internal
