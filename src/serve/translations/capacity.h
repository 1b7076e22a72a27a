// Capacity: how many texts and characters may be queued or in progress, and when there will be room again.
//
// Each line of a text counts as a text, a document as one. A text of more than a quarter of the room counts as a
// quarter, so that it need not wait for all others to end; two such texts may be under way at once, so that half of the
// room is left to others. That holds between requests: the texts of a single one may take all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "serve/translations.h"

namespace dragoman::internal {

class Capacity {
 public:
  Capacity(size_t texts, size_t characters) : max_{texts, characters} {}

  // Room for each of these works, until the last copy of its TextWork::room goes: for all of them, or none. Throws
  // Overloaded where there is too little now, and a ServeError of status 413 where they would never have it.
  void reserve(std::vector<TextWork>& works);
  std::shared_ptr<void> take(const TextWork& work);  // for one

  // What take() would throw now for the shortest text.
  std::optional<Overloaded> refusal() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Size {
    size_t texts = 0, characters = 0, large = 0;  // large: texts that count as a quarter
  };

  Size size_of(const TextWork& work) const;
  std::optional<Overloaded> refusal_of(const Size& size) const;
  std::shared_ptr<void> taken(const Size& size);
  void release(const Size& size);
  int seconds_until_room() const;

  const Size max_;
  mutable std::mutex mutex_;
  Size used_;
  // Characters per second released recently.
  double rate_ = 0;
  size_t released_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace dragoman::internal
