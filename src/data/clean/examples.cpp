#include "data/clean/examples.h"

#include <algorithm>

#include "base/random.h"

namespace dragoman::internal {

void FaultExamples::add(Fault fault, uint64_t index, const TextPair& pair) {
  if (of_each_ == 0) return;
  std::vector<Drawn>& heap = drawn_[static_cast<size_t>(fault)];
  const uint64_t key = mix(mix(0, "examples"), index);
  if (heap.size() == of_each_) {
    if (key > heap.front().key) return;
    std::ranges::pop_heap(heap, {}, &Drawn::key);
    heap.pop_back();
  }
  heap.push_back({.key = key, .pair = {index, pair.source, pair.target}});
  std::ranges::push_heap(heap, {}, &Drawn::key);
}

std::array<std::vector<FaultyPair>, fault_count> FaultExamples::take() {
  std::array<std::vector<FaultyPair>, fault_count> examples;
  for (size_t fault = 0; fault < fault_count; ++fault) {
    for (Drawn& drawn : drawn_[fault]) examples[fault].push_back(std::move(drawn.pair));
    std::ranges::sort(examples[fault], {}, &FaultyPair::index);
    drawn_[fault].clear();
  }
  return examples;
}

}  // namespace dragoman::internal
