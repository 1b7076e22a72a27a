// What benchmarks of training compute on: models of three sizes, and sentences as long as those of ordinary text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace dragoman::internal {

enum class Size { small, base, big, all };

struct ModelSize {
  int64_t layers, d_model, d_ff, heads, vocabulary;  // layers: of each stack
};

inline ModelSize model_size(Size size) {
  if (size == Size::small) return {3, 256, 1024, 4, 8000};
  return size == Size::base ? ModelSize{6, 512, 2048, 8, 16000} : ModelSize{6, 1024, 4096, 16, 32000};
}

inline int64_t clamp_length(double length) {
  return std::clamp<int64_t>(static_cast<int64_t>(length), 4, 100);
}

inline int64_t ordinary_length(Random& random) { return clamp_length(std::exp(3.1 + 0.5 * random.normal())); }

}  // namespace dragoman::internal
