// What `dragoman inspect` shows of a sentence: its translations, how sure the model was of each word, and what every
// head of every layer attended to.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "search/translator.h"

namespace dragoman {

// `line` was translated with its alignment. With `target` the model is asked about that translation instead of its own
// best one. `thousandths`: attention as whole numbers, for pages; else as shares of 1.
//
// Tokens are pieces; attention is a list for each layer of a list for each head of rows: encoder (source tokens look at
// source tokens), decoder (what was read, at what was read), cross (what is said, at source tokens). Throws Error
// where the line is empty, or longer than the model takes as a whole.
nlohmann::ordered_json inspection(SavedModel& model, const TranslatedLine& line, const std::string& target,
                                  int64_t layer, bool thousandths);

}  // namespace dragoman
