// Weights for decoding: mapped from the file, in fp32 or in low precision.
//
// A low-precision file has, for each weight and table, a tensor NAME with the data of a LowPrecisionMatrix (int8: U8,
// panels × lines × 64; bf16: BF16, panels × lines × 32) and, for int8, NAME.scales; all other parameters are fp32.
#pragma once

#include <string>

#include "nn/parameters.h"
#include "tensor/device.h"

namespace dragoman::internal {

// As the file has them, or rounded to low precision while they are read.
enum class RequestedPrecision { as_saved, fp32, bf16, int8 };
Precision chosen_precision(RequestedPrecision wanted, Precision saved);

// Points every parameter to its values in the file, which stays mapped and which the device adopts: on the CPU,
// processes share its pages. Before, the file is compared with its checksums, if it has some and unless `verify` is
// false. Values that it has in a higher precision than wanted are rounded into memory of their own. An Error names the
// file, and the tensor that is missing, unknown, damaged, of another shape or not finite; weights and tables that stay
// as the file has them are not checked for being finite.
void map_weights(Device& device, const std::string& path, Parameters& parameters,
                 RequestedPrecision wanted = RequestedPrecision::as_saved, bool verify = true);

// Rounds weights and tables that are held in floats, into memory of their own.
void quantize_weights(Device& device, Parameters& parameters, Precision precision);
// Weights and tables get the values that they would have in int8, as floats. Those of a GPU come to the host for that.
void round_weights_to_int8(CpuContext& host, Parameters& parameters);

// The same weights, as they are held, on another device.
void copy_weights(const Parameters& original, Device& device, Parameters& copy);

// Writes the weights as they are held.
void write_decoding_weights(const std::string& path, const Parameters& parameters);

}  // namespace dragoman::internal
