// One layer's attention as a figure, a table for each head: what `dragoman inspect --format svg` draws.
#pragma once

#include <nlohmann/json.hpp>

#include "report/plot.h"

namespace dragoman {

enum class AttentionPart { encoder, decoder, cross };

// `sentence`: its inspection. Layers count from 1; throws Error where there is no such layer.
HeatMaps attention_figure(const nlohmann::ordered_json& sentence, AttentionPart part, int64_t layer);

}  // namespace dragoman
