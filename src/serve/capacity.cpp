#include "serve/capacity.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr std::chrono::duration<double> period{1.0};
constexpr double newest_weight = 0.3;  // of a period in the rate
constexpr int longest_wait = 60;

}  // namespace

std::shared_ptr<void> Capacity::take(size_t characters) {
  const std::lock_guard lock(mutex_);
  if (const auto refusal = refusal_of(characters)) throw *refusal;
  if (texts_ == 0) since_ = Clock::now();  // an idle time says nothing about the rate
  ++texts_;
  characters_ += characters;
  return {this, [characters](Capacity* capacity) { capacity->give_back(characters); }};
}

std::optional<Overloaded> Capacity::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_of(1);
}

std::optional<Overloaded> Capacity::refusal_of(size_t characters) const {
  if (texts_ == 0 || (texts_ < max_texts_ && characters_ + characters <= max_characters_)) return {};
  const int seconds = seconds_until_room();
  return Overloaded(fmt::format("the server is busy with {} texts: ask again in {} s", texts_, seconds),
                    seconds);
}

void Capacity::give_back(size_t characters) {
  const std::lock_guard lock(mutex_);
  --texts_;
  characters_ -= characters;
  given_back_ += characters;
  const std::chrono::duration<double> passed = Clock::now() - since_;
  if (passed < period) return;
  const double rate = static_cast<double>(given_back_) / passed.count();
  rate_ = rate_ == 0 ? rate : (1 - newest_weight) * rate_ + newest_weight * rate;
  given_back_ = 0;
  since_ = Clock::now();
}

// Half of what waits is then done: others ask again, too.
int Capacity::seconds_until_room() const {
  if (rate_ == 0) return 1;
  const double seconds = std::ceil(static_cast<double>(characters_) / 2 / rate_);
  return static_cast<int>(std::clamp<double>(seconds, 1, longest_wait));
}

}  // namespace dragoman::internal
