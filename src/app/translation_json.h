// A translation as the JSON object that `translate --format json` prints.
#pragma once

#include <ostream>

#include "dragoman/translator.h"

namespace dragoman::internal {

struct TranslationJson {
  bool alternatives = false;
  bool alignment = false;  // aligned words and tokens, with their spans in code points
  bool attention = false;  // for each token its attention to source tokens
};

// On one line. Token by token: as one JSON value a long text's tokens would take hundreds of bytes each.
void print_json(std::ostream& out, const dragoman::Translation& translation, const TranslationJson& with);

}  // namespace dragoman::internal
