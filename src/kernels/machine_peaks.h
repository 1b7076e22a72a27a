// The limits of this machine: multiply-adds on registers alone, and bytes read from memory or a cache.
#pragma once

#include <string>

#include "kernels/kernels.h"

namespace dragoman::internal {

double seconds();  // of a monotonic clock
// The same for several threads; for one, processor time, which leaves out other programs.
double seconds(int threads);

// Operations a second (two for each multiply-add), all threads together; the best of a few runs.
double measured_peak(int threads, const std::string& instruction_set, Precision precision = Precision::fp32);

// Read bandwidth in bytes per second, all threads together, each repeatedly reading its share of `bytes`: from a
// cache if they fit into it; by default from memory.
double measured_bandwidth(int threads, double bytes = 256 << 20);

}  // namespace dragoman::internal
