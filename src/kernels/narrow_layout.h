// The layout that NarrowMatrix describes, for files of it, for rounding, and for the kernels that read it.
#pragma once

#include <cstdint>

namespace dragoman {

constexpr int64_t narrow_panel_columns = 16, narrow_line_bytes = 64, narrow_column_bytes = 4;

}  // namespace dragoman
