// The files of Marian's models, written: model.npz in floats, and Bergamot's .bin in 8 bits.
#pragma once

#include <map>
#include <string>

#include "convert/marian/exported_tensors.h"

namespace dragoman::internal {

// `configuration`: the YAML of special:model.yml.
void write_marian_npz(const std::string& path, const MarianTensors& tensors,
                      const std::string& configuration);

// Matrices of products and embeddings become integers with one multiplier each. `activations`: what the inputs of each
// of these products are multiplied by, where it is fixed; empty: the program measures it.
void write_bergamot_bin(const std::string& path, const MarianTensors& tensors,
                        const std::string& configuration, const std::map<std::string, float>& activations);

// Whether Bergamot has the tensor in 8 bits.
bool is_in_bergamots_integers(const std::string& name);

}  // namespace dragoman::internal
