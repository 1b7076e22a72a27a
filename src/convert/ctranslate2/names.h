// The names that CTranslate2 gives to the parameters of a Transformer.
#pragma once

#include <string>

#include "convert/files/tensors.h"
#include "kernels/kernels.h"

namespace dragoman::internal {

// The variable of model.bin that holds a parameter: "encoder/layer_0/self_attention/linear_0/weight". Weights are
// output by input there.
std::string ctranslate2_name(const std::string& parameter);

// Whether two variables hold the same values.
bool same(const ForeignTensor& a, const ForeignTensor& b);

// Replaces the first occurrence, if there is one.
void replace_first(std::string& text, const std::string& from, const std::string& to);

// Names of tables.
namespace ctranslate2 {
inline const std::string encoder_positions = "encoder/position_encodings/encodings",
                         decoder_positions = "decoder/position_encodings/encodings",
                         encoder_embedding = "encoder/embeddings_0/weight",
                         decoder_embedding = "decoder/embeddings/weight",
                         generator = "decoder/projection/weight";

// Ends of names in each self-attention: T5's bias, which all layers share, and Shaw's vectors.
inline const std::string t5_bias = "/self_attention/relative_attention_bias",
                         t5_distance = "/self_attention/relative_attention_max_distance",
                         distance_keys = "/self_attention/relative_position_keys",
                         distance_values = "/self_attention/relative_position_values";
}  // namespace ctranslate2

// The codes of activation functions, in the order of CTranslate2's enumeration.
inline constexpr Activation ctranslate2_activations[] = {
    Activation::relu, Activation::gelu_tanh, Activation::swish, Activation::gelu, Activation::gelu_sigmoid};

}  // namespace dragoman::internal
