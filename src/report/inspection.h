// The data of `dragoman inspect`: its translations, the probability of each token, and the attention of every head of
// every layer.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "search/saved_model.h"
#include "search/translation.h"

namespace dragoman::internal {

// `line` must have been translated with its alignment. If `target` is not empty, scores and attention are those of
// that translation, by forced decoding, instead of the model's best. `thousandths`: attention as integers, for pages;
// else as fractions of 1.
//
// Attention is [layer][head][query][key]: encoder (source tokens attend to source tokens), decoder (the tokens read by
// the decoder to one another), cross (output tokens to source tokens). Throws Error if the line is empty, or too long
// to be translated as a whole. What uses the model's device goes through `run`, once: the rest may be on another thread
// than the model's.
nlohmann::ordered_json inspection(
    SavedModel& model, const Direction& direction, const TranslatedLine& line, const std::string& target,
    int64_t layer, bool thousandths,
    const std::function<void(const std::function<void()>&)>& run = [](const auto& compute) { compute(); });

// The page of {"model": name, "sentences": inspections in thousandths}.
std::string inspection_page(nlohmann::ordered_json data);

}  // namespace dragoman::internal
