// Attention as figures for papers and documents: heat maps of the heads of a layer.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "report/plot.h"

namespace dragoman::internal {

enum class AttentionKind { encoder, decoder, cross, all };

struct AttentionFigure {
  std::string name;  // "encoder-1": the kind and the layer
  HeatMaps maps;     // one for each head
};

// A figure for each kind and layer that is asked for. Layers count from 1, and 0 asks for all; throws Error if there is
// no such layer. `sentence`: its inspection.
std::vector<AttentionFigure> attention_figures(const nlohmann::ordered_json& sentence, AttentionKind kind,
                                               int64_t layer);

}  // namespace dragoman::internal
