// Weights as decoding holds them: mapped from the file, in floats or in fewer bits.
//
// A file in fewer bits has, for each weight and table, a tensor NAME that is NarrowMatrix's data (int8: U8, of panels ×
// lines × 64; bf16: BF16, of panels × lines × 32) and, for int8, NAME.scales; all other parameters are floats.
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
void hold_weights(Context& context, const std::string& path, Parameters& parameters,
                  WantedPrecision wanted = WantedPrecision::as_saved);

// Rounds weights and tables that are held in floats, into memory of their own.
void round_weights(Context& context, Parameters& parameters, Precision precision);

// Writes a file of what is held.
void write_held_weights(const std::string& path, const Parameters& parameters);

}  // namespace dragoman
