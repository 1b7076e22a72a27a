// The special tokens of vocabularies that learn_vocabulary makes.
#pragma once

#include <cstdint>

namespace dragoman::internal {

inline constexpr int32_t unknown_id = 0, bos_id = 1, eos_id = 2;

}  // namespace dragoman::internal
