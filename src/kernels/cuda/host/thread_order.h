// The threads that can go on, in a random order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace dragoman::internal::on_host {

constexpr int most_threads = 1024;

class ThreadOrder {
 public:
  void seed(uint64_t seed) { state_ = seed * 0x9e3779b97f4a7c15 + 0xd1b54a32d192ed03; }
  void clear() { first_ = last_ = 0; }

  // [0, bound)
  int64_t below(int64_t bound) {
    return static_cast<int64_t>((uint64_t{draw()} * static_cast<uint64_t>(bound)) >> 32);
  }

  void shuffle(std::span<uint16_t> numbers) {
    for (size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }

  // After those that wait already, or before all of them.
  void add_shuffled(std::span<uint16_t> threads, bool before) {
    shuffle(threads);
    if (before) {
      for (const uint16_t thread : threads) threads_[--first_ % most_threads] = thread;
    } else {
      for (const uint16_t thread : threads) threads_[last_++ % most_threads] = thread;
    }
  }

  bool empty() const { return first_ == last_; }
  int next() { return threads_[first_++ % most_threads]; }

 private:
  uint32_t draw() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;  // SplitMix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<uint32_t>(z >> 32);
  }

  uint64_t state_ = 0;
  std::array<uint16_t, most_threads> threads_;
  uint32_t first_ = 0, last_ = 0;  // they may wrap around
};

}  // namespace dragoman::internal::on_host
