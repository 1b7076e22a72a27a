// A model's weights in a file: parameters under their names, never by order.
#pragma once

#include <span>
#include <string>

#include "model/safetensors.h"
#include "nn/parameters.h"

namespace dragoman {

// Entries for write_safetensors: every parameter, its values taken from a flat buffer laid out as the weights are.
// `prefix` stands before each name.
std::vector<TensorEntry> flat_entries(const Parameters& parameters, std::span<const float> flat,
                                      const std::string& prefix = "");

void write_weights(const std::string& path, const Parameters& parameters, std::span<const float> flat);

// Reads every parameter into its place of a flat buffer. An Error names the file and the first tensor that is
// missing, of another size, or too much.
void read_flat(const SafetensorsFile& file, const Parameters& parameters, std::span<float> flat,
               const std::string& prefix = "");

// What a file's weights and tables are kept in.
Precision saved_precision(const std::string& path, const SafetensorsFile& file);

// That the file has no tensor of another name.
void check_names(const std::string& path, const SafetensorsFile& file, std::vector<std::string> names);

// How a parameter's shape is written: [columns] where it is one row.
std::vector<int64_t> shape_of(const Parameter& parameter);

// A whole file of weights in floats. What does not belong to the model is an error before memory is taken.
void read_weights(const std::string& path, Parameters& parameters);

}  // namespace dragoman
