// FaultExamples: a few pairs of each fault from the whole corpus, the same ones whatever the order in which they come.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/cleaning_settings.h"

namespace dragoman::internal {

class FaultExamples {
 public:
  explicit FaultExamples(int64_t of_each) : of_each_(static_cast<size_t>(of_each)) {}

  void add(Fault fault, uint64_t index, const TextPair& pair);

  // By Fault, each in the corpus's order.
  std::array<std::vector<FaultyPair>, fault_count> take();

 private:
  struct Drawn {
    uint64_t key;  // those with the smallest keys are kept
    FaultyPair pair;
  };

  size_t of_each_;
  std::array<std::vector<Drawn>, fault_count> drawn_;  // heaps, the largest key first
};

}  // namespace dragoman::internal
