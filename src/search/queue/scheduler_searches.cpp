// The scheduler's searches: how many rows they have, and which of them takes the next sentence.
#include <algorithm>
#include <map>

#include "search/queue/scheduler.h"

namespace dragoman::internal {

void Scheduler::set_searches(int device, int most) {
  const Lock lock(mutex_);
  if (searches_.contains(device) && is_retired(device)) return;
  searches_[device] = most;
  count_rows();
}

void Scheduler::count_rows() {
  int64_t searches = 0;
  for (const auto& [device, most] : searches_) searches += most;
  rows_ = rows_of_search_ * searches;
  reserved_ = reserved_of_search_ * searches;
}

void Scheduler::add_puller(Puller& puller) {
  const Lock lock(mutex_);
  pullers_.push_back(&puller);
}

void Scheduler::remove_puller(Puller& puller) {
  const Lock lock(mutex_);
  std::erase(pullers_, &puller);
}

void Scheduler::retire(int device) {
  const Lock lock(mutex_);
  const auto is_other = [&](const auto& searches) { return searches.first != device && searches.second > 0; };
  if (std::ranges::none_of(searches_, is_other)) return;
  searches_[device] = 0;
  count_rows();
  wake_idle();
}

int64_t Scheduler::free_rows() const {
  int64_t free = rows_;
  for (const Puller* puller : pullers_)
    if (!is_retired(puller->device)) free -= puller->used;
  return free;
}

bool Scheduler::may_begin(uint64_t client) const {
  const int64_t free = free_rows();
  return free > reserved_ || (free > 0 && !rows_of_.contains(client));
}

const WaitingTurn* Scheduler::next_turn() const {
  return queue_.next([this](uint64_t client) { return may_begin(client); });
}

// How many of the sentences that wait a device should take, so that all have equally many under way: as many as bring
// it to the level that all reach. Where that leaves a remainder, whichever device pulls first takes it.
int64_t Scheduler::share_of(int device) const {
  if (searches_.size() == 1) return to_begin_;
  struct Load {
    int64_t used = 0, rows = 0;
    int64_t below(int64_t level) const { return std::max<int64_t>(std::min(level, rows) - used, 0); }
  };
  std::map<int, Load> loads;
  for (const Puller* puller : pullers_) {
    if (is_retired(puller->device)) continue;
    loads[puller->device].used += puller->used;
    loads[puller->device].rows += rows_of_search_;
  }
  const auto below = [&](int64_t level) {
    int64_t sentences = 0;
    for (const auto& [number, load] : loads) sentences += load.below(level);
    return sentences;
  };
  int64_t level = 0, most = rows_;
  while (level < most) {
    const int64_t middle = (level + most) / 2;
    below(middle) < to_begin_ ? level = middle + 1 : most = middle;
  }
  return loads[device].below(level);
}

// None while the searches before this one on its device have rows for all that wait for the device.
const WaitingTurn* Scheduler::next_for(const Puller& puller) const {
  if (is_retired(puller.device) || to_begin_ == 0) return nullptr;
  int64_t rows_before = 0;
  for (size_t i = 0; pullers_[i] != &puller; ++i)
    if (pullers_[i]->device == puller.device) rows_before += rows_of_search_ - pullers_[i]->used;
  return share_of(puller.device) > rows_before ? next_turn() : nullptr;
}

bool Scheduler::is_crowded() const {
  const Lock lock(mutex_);
  const auto retired = [&](const Puller* puller) { return is_retired(puller->device); };
  const auto rows = rows_of_search_ * (std::ssize(pullers_) - std::ranges::count_if(pullers_, retired));
  return to_begin_ > free_rows() - (rows_ - rows) && next_turn() != nullptr;
}

}  // namespace dragoman::internal
