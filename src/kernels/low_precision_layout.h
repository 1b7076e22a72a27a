// The layout that LowPrecisionMatrix describes, for files of it, for rounding, and for the kernels that read it.
#pragma once

#include <cstdint>

namespace dragoman {

constexpr int64_t low_precision_panel_columns = 16, low_precision_line_bytes = 64,
                  low_precision_column_bytes = 4;

}  // namespace dragoman
