// A translation with what its search said of it: all that confidence goes by.
#pragma once

#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

struct ScoredToken {
  TextSpan span;  // in code points of the translation
  double log_probability = 0;
};

struct ScoredText {
  std::string_view source, text;
  std::vector<ScoredToken> tokens;
};

}  // namespace dragoman::internal
