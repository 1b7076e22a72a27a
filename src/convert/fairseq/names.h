// Weights under the names that fairseq gave them and Hugging Face's Marian, M2M100 and mBART kept:
// "encoder.layers.0.self_attn.q_proj.weight".
#pragma once

#include <string>
#include <vector>

#include "convert/files/tensors.h"
#include "nn/parameters.h"

namespace dragoman::internal {

// The tensors that a layer's parameter consists of, side by side; none for a parameter outside the layers.
std::vector<std::string> fairseq_names(const std::string& parameter);

// Whether a tensor is an embedding or a generator, which a file may store under several names where they are tied; or
// else not a weight: a computed table of positions, or the version of a stack.
bool is_embedding_or_buffer(const std::string& name);

// A tensor of this shape; an Error that starts with `path` if there is none.
const ForeignTensor& tensor_of(const ForeignTensors& tensors, const std::string& path,
                               const std::string& name, const std::vector<int64_t>& shape);

// What a layer's parameter consists of. Their matrices are output by input, ours input by output. `prefix` precedes
// each name.
std::vector<ForeignTensor> layer_parts(const ForeignTensors& tensors, const std::string& path,
                                       const std::string& prefix, const Parameter& parameter);

}  // namespace dragoman::internal
