// A translated line as the JSON object that `translate --format json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "search/translator.h"

namespace dragoman {

struct LineJsonOptions {
  bool alternatives = false;
  bool alignment = false;  // words and pieces that belong together, with their spans in code points
  bool attention = false;  // for each token its weights, of the source tokens from number `first` on
};
nlohmann::ordered_json to_json(const TranslatedLine& line, const LineJsonOptions& options);

// A weight to five digits: more say nothing, and take room.
double rounded(float weight);

}  // namespace dragoman
