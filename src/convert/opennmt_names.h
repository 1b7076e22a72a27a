// Weights under the names of OpenNMT-py, "encoder.transformer.0.self_attn.linear_query.weight", and of its successor
// eole, "encoder.transformer_layers.0.self_attn.linear_query.weight".
#pragma once

#include <string>
#include <vector>

#include "convert/foreign_tensors.h"
#include "nn/parameters.h"

namespace dragoman::internal {

enum class Toolkit { opennmt, eole };

// What a layer's parameter consists of. Their matrices are output by input; biases that a model lacks are zero.
std::vector<ForeignTensor> opennmt_layer(const ForeignTensors& tensors, const std::string& path,
                                         Toolkit toolkit, const Parameter& parameter);

// A bias of no effect.
ForeignTensor zero_bias(int64_t columns);

}  // namespace dragoman::internal
