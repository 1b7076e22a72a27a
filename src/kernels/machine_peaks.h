// What the machine can do at most: multiply-adds from registers alone, and bytes read from memory.
#pragma once

#include <string>

#include "kernels/context.h"
#include "kernels/kernels.h"

namespace dragoman {

double seconds();  // of a clock that only goes forward
// The same for several threads; for one, of the processor alone, so that other programs' turns do not count.
double seconds(int threads);

// Operations a second (two for each multiply-add), all threads together; the best of a few moments.
double measured_peak(Context& context, const std::string& instruction_set,
                     Precision precision = Precision::fp32);

// Bytes a second that are read from memory, all threads together.
double measured_bandwidth(Context& context);

}  // namespace dragoman
