// The control tokens around terms in a source, see term_marks.h.
#pragma once

namespace dragoman::internal {

inline constexpr const char *term_begin_name = "<term>", *term_is_name = "<is>", *term_end_name = "</term>";

}  // namespace dragoman::internal
