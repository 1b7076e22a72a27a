// A translated line as JSON: what `dragoman translate --format json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "search/translator.h"

namespace dragoman::internal {

struct LineJsonOptions {
  bool alternatives = false;
  bool alignment = false;  // aligned words and tokens, with their spans in code points
  bool attention = false;  // each token's weights of the source tokens from number `first` on
};
nlohmann::ordered_json to_json(const TranslatedLine& line, const LineJsonOptions& options);

// An attention weight as in JSON: five decimals are enough.
double weight_json(float weight);

}  // namespace dragoman::internal
