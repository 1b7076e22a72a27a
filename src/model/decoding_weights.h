// Weights for decoding: mapped from the file, in fp32 or in low precision.
//
// A low-precision file has, for each weight and table, a tensor NAME with the data of a LowPrecisionMatrix (int8: U8,
// panels × lines × 64; bf16: BF16, panels × lines × 32) and, for int8, NAME.scales; all other parameters are fp32.
#pragma once

#include <string>

#include "kernels/context.h"
#include "nn/parameters.h"

namespace dragoman {

// As the file has them, or rounded to fewer bits while they are read.
enum class WantedPrecision { as_saved, fp32, bf16, int8 };

const char* name_of(Precision precision);

// Points every parameter to its values in the file, which stays mapped: pages come when they are touched, and processes
// share them. What the file has in more bits than are wanted is rounded into memory of its own. An Error names the
// file, and the tensor that is missing, of another size, too much, or not finite; in weights and tables that stay as
// the file has them nobody looks for that.
void map_weights(Context& context, const std::string& path, Parameters& parameters,
                 WantedPrecision wanted = WantedPrecision::as_saved);

// Rounds weights and tables that are held in floats, into memory of their own.
void quantize_weights(Context& context, Parameters& parameters, Precision precision);

// Writes a file of what is held.
void write_decoding_weights(const std::string& path, const Parameters& parameters);

}  // namespace dragoman
