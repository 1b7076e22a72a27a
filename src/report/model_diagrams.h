// Diagrams of the Transformer as this program computes it, as SVG files.
#pragma once

#include <string>

namespace dragoman::internal {

std::string architecture_diagram();
std::string encoder_layer_diagram();  // of both orders of the norms, side by side
std::string decoder_layer_diagram();
std::string attention_diagram();
std::string multi_head_attention_diagram();

}  // namespace dragoman::internal
