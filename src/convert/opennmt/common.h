// What the models of OpenNMT-py and its successor eole have in common: defaults, and weights under similar names,
// "encoder.transformer.0.self_attn.linear_query.weight" of OpenNMT-py, and
// "encoder.transformer_layers.0.self_attn.linear_query.weight" of eole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "convert/files/tensors.h"
#include "model/config.h"
#include "nn/parameters.h"

namespace dragoman::internal {

inline constexpr int64_t opennmt_heads = 8, opennmt_d_ff = 2048;

// How the toolkits search: options of the search by name.
nlohmann::json opennmt_search();

// The positions, as a choice to be shown.
std::string described_positions(const ModelConfig& config);

enum class Toolkit { opennmt, eole };

// How a layer's parameters are named, and what rotary positions pair.
struct LayerStyle {
  Toolkit toolkit;
  // Of rotary positions that turn neighbouring columns together; 0: there are none.
  int64_t encoder_heads = 0, decoder_heads = 0;
};

// What a layer's parameter consists of. Their matrices are output by input; biases that a model lacks are zero.
std::vector<ForeignTensor> opennmt_layer(const ForeignTensors& tensors, const std::string& path,
                                         const LayerStyle& style, const Parameter& parameter);

// The names of these, in any version; none for a parameter outside encoder and decoder.
std::vector<std::string> opennmt_names(Toolkit toolkit, const std::string& parameter);

}  // namespace dragoman::internal
