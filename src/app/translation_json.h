// A translation as the JSON object that `translate --format json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "dragoman/translator.h"

namespace dragoman::internal {

struct TranslationJson {
  bool alternatives = false;
  bool alignment = false;  // aligned words and tokens, with their spans in code points
  bool attention = false;  // for each token its attention to source tokens
};
nlohmann::ordered_json to_json(const dragoman::Translation& translation, const TranslationJson& with);

}  // namespace dragoman::internal
