// The names that CTranslate2 gives to the parameters of a Transformer.
#pragma once

#include <string>

#include "kernels/kernels.h"

namespace dragoman::internal {

// The variable of model.bin that holds a parameter: "encoder/layer_0/self_attention/linear_0/weight". Weights are
// output by input there.
std::string ctranslate2_name(const std::string& parameter);

// Replaces the first occurrence, if there is one.
void replace_first(std::string& text, const std::string& from, const std::string& to);

// Names of tables.
namespace ctranslate2 {
inline const std::string encoder_positions = "encoder/position_encodings/encodings",
                         decoder_positions = "decoder/position_encodings/encodings",
                         encoder_embedding = "encoder/embeddings_0/weight",
                         decoder_embedding = "decoder/embeddings/weight",
                         generator = "decoder/projection/weight";
}

// The codes of activation functions, in the order of CTranslate2's enumeration.
inline constexpr Activation ctranslate2_activations[] = {
    Activation::relu, Activation::gelu_tanh, Activation::swish, Activation::gelu, Activation::gelu_sigmoid};

}  // namespace dragoman::internal
