// How a file has weights in low precision (decoding_weights.h), and how such a file is written that need not fit into
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/safetensors.h"
#include "nn/parameters.h"

namespace dragoman::internal {

std::string scales_name(const Parameter& parameter);
// The right operand of products: a table is used transposed.
ConstMatrix operand_of(const Parameter& parameter, const float* floats);
Dtype low_precision_dtype(Precision precision);
std::vector<int64_t> low_precision_shape(Precision precision, ConstMatrix operand);
Metadata low_precision_metadata(Precision precision);

// Some columns of an operand, one after the other, each from its first row to its last. `known_scales`: as for
// to_low_precision; empty: none.
struct OperandColumns {
  std::vector<float> values, known_scales = {};
};
using OperandReader = std::function<OperandColumns(int64_t first, int64_t count)>;

struct FloatWeights {
  std::function<OperandReader(const Parameter&)> operand;      // of weights and tables
  std::function<std::vector<float>(const Parameter&)> values;  // of the other parameters, which are small
};

// The same file as write_decoding_weights, of weights that are rounded some columns at a time.
void stream_low_precision(const std::string& path, const Parameters& parameters, Precision precision,
                          const FloatWeights& weights);

}  // namespace dragoman::internal
