// What /v1/translate answers about a text.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "serve/translation_json.h"
#include "serve/translations.h"

namespace dragoman::internal {

struct AnswerDetail {
  bool detected = false;  // the source's language was not given
  bool lines = false;     // all that is known about each line
  bool memory = false;    // segments of memories
  TranslationJson of_lines = {};
};

// A JSON object, on one line.
std::string text_json(const TextResult& result, const AnswerDetail& detail);

nlohmann::ordered_json translation_schema();

}  // namespace dragoman::internal
