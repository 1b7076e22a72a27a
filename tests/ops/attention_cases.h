// The cases of attention, and of what it needs to know positions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/cases.h"

namespace dragoman::internal {

using Lengths = std::vector<int32_t>;

inline int64_t total(const Lengths& lengths) {
  int64_t sum = 0;
  for (const int32_t length : lengths) sum += length;
  return sum;
}

struct AttentionCase {
  int64_t heads, width;
  bool causal = false;
  float dropout = 0;
  std::vector<Span> keys =
      {};             // cross-attention: the keys are rows of their own, and may have gaps between spans
  int64_t reach = 0;  // of a bias by distance; 0: none
  int64_t vector_reach = 0;  // of the vectors of keys and values
};

OpCase attention_case(std::string name, const Lengths& lengths, const AttentionCase& options);
std::vector<OpCase> small_attention_cases(const Lengths& some, const Lengths& many);

}  // namespace dragoman::internal
