// Capacity: how many texts and characters may wait or be under way, and how soon there will be room again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "serve/translations.h"

namespace dragoman::internal {

class Capacity {
 public:
  Capacity(size_t texts, size_t characters) : max_texts_(texts), max_characters_(characters) {}

  // Room for a text, until the last copy of what it returns goes. Throws Overloaded where there is none. A single text
  // always has room.
  std::shared_ptr<void> take(size_t characters);

  // What take() would throw now for the shortest text.
  std::optional<Overloaded> refusal() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Overloaded> refusal_of(size_t characters) const;
  void give_back(size_t characters);
  int seconds_until_room() const;

  const size_t max_texts_, max_characters_;
  mutable std::mutex mutex_;
  size_t texts_ = 0, characters_ = 0;
  // Characters a second, as they were given back recently.
  double rate_ = 0;
  size_t given_back_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace dragoman::internal
