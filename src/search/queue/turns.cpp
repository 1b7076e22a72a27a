#include "search/queue/turns.h"

#include <algorithm>
#include <vector>

namespace dragoman::internal {
namespace {

constexpr size_t max_clients = 512;

}  // namespace

double Turns::next(uint64_t client, double cost) {
  double& end = ends_[client];
  const double start = std::max(now_, end);
  end = start + cost;
  if (ends_.size() >= max_clients) evict_half();
  return start;
}

// The half that has had the least. If each request comes from another client, nobody's turn is later than now, and all
// would be remembered forever unless time moved on.
void Turns::evict_half() {
  std::vector<double> ends;
  for (const auto& [client, end] : ends_) ends.push_back(end);
  std::ranges::nth_element(ends, ends.begin() + max_clients / 2);
  reach(ends[max_clients / 2]);
  std::erase_if(ends_, [&](const auto& client_end) { return client_end.second <= now_; });
}

void Turns::reach(double start) { now_ = std::max(now_, start); }

void TurnQueue::add(const WaitingTurn& turn) {
  std::set<WaitingTurn>& own = of_client_[turn.client];
  if (!own.empty()) first_.erase(*own.begin());
  own.insert(turn);
  first_.insert(*own.begin());
}

void TurnQueue::remove(const WaitingTurn& turn) {
  const auto own = of_client_.find(turn.client);
  if (own == of_client_.end()) return;
  first_.erase(*own->second.begin());
  own->second.erase(turn);
  if (own->second.empty()) {
    of_client_.erase(own);
  } else {
    first_.insert(*own->second.begin());
  }
}

const WaitingTurn* TurnQueue::next(const std::function<bool(uint64_t client)>& may_begin) const {
  const auto found = std::ranges::find_if(first_, may_begin, &WaitingTurn::client);
  return found == first_.end() ? nullptr : &*found;
}

}  // namespace dragoman::internal
