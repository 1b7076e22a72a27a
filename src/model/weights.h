// A model's weights in a file: parameters under their names, never by order.
#pragma once

#include <span>
#include <string>

#include "model/safetensors.h"
#include "nn/parameters.h"

namespace dragoman::internal {

// Entries for write_safetensors: every parameter, its values taken from a host copy of a flat buffer laid out as the
// weights are. `prefix` precedes each name.
std::vector<TensorEntry> flat_entries(const Parameters& parameters, std::span<const float> flat,
                                      const std::string& prefix = "");

void write_weights(const std::string& path, const Parameters& parameters, std::span<const float> flat);

// Reads every parameter into its place of a flat buffer in device memory. An Error names the file and the first tensor
// that is missing or has another shape.
void read_flat(const SafetensorsFile& file, const Parameters& parameters, std::span<float> flat,
               const std::string& prefix = "");

// A parameter's shape in files: [columns] if it has one row.
std::vector<int64_t> shape_of(const Parameter& parameter);

// Reads a whole file of fp32 weights, or an update and its base (weights_file.h). Where the parameters have low-rank
// updates of their own, these are read apart, or stay as they are; else weights have them added. A file that is damaged
// or does not fit the model is an Error before memory is allocated: these buffers, unless some are there already.
void read_weights(const std::string& path, Parameters& parameters, Buffers buffers = Buffers::weights);

}  // namespace dragoman::internal
