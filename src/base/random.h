// Random numbers that are a function of a key and a counter: without state, so that any part of the program can
// draw the same numbers again, in any order and on any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::internal {

// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A well-mixed hash of both; the order counts.
uint64_t mix(uint64_t a, uint64_t b);
uint64_t mix(uint64_t a, std::string_view text);

// A stream of numbers for sequential code: initialisers, synthetic data, shuffles.
class Random {
 public:
  explicit Random(uint64_t key) : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}

  uint32_t word();
  double uniform();  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();                 // mean 0, deviation 1
  uint64_t below(uint64_t bound);  // [0, bound), without bias

 private:
  std::array<uint32_t, 2> key_;
  uint64_t drawn_ = 0;
  std::array<uint32_t, 4> words_ = {};
};

template <class Item>
void shuffle(std::vector<Item>& items, uint64_t key) {
  Random random(key);
  for (size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace dragoman::internal
