// A translation as the JSON object that `translate --format json` prints, and that the server answers.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dragoman/translator.h"

namespace dragoman::internal {

struct TranslationJson {
  bool alternatives = false;
  bool alignment = false;  // aligned words and tokens, with their spans in code points
  bool attention = false;  // for each token its attention to source tokens
  bool words = false;      // how likely all and each word are right, with the words' spans
  bool memory = false;     // the memory's segments that were used, where there is a memory
  bool findings = false;   // of each hypothesis: what it lacks, or has too much of, between these languages
  std::string from = {}, to = {};
};

nlohmann::ordered_json to_json(const dragoman::MemorySegment& segment);

// "invalid", "cut", "unknown", "repeats", "terms_missed", "too_short", "unlikely",
// "memory": those that are so.
std::vector<std::string_view> flags_of(const dragoman::Translation& translation);

// On one line. Token by token: as one JSON value a long text's tokens would take hundreds of bytes each.
void print_json(std::ostream& out, const dragoman::Translation& translation, const TranslationJson& with);

}  // namespace dragoman::internal
