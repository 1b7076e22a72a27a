#include "search/turns.h"

#include <algorithm>
#include <vector>

namespace dragoman::internal {
namespace {

constexpr size_t max_clients = 512;

}  // namespace

Turn Turns::next(uint64_t client, double cost) {
  double& end = ends_[client];
  const Turn turn = {std::max(now_, end), cost};
  end = turn.start + cost;
  if (ends_.size() >= max_clients) evict_half();
  return turn;
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

}  // namespace dragoman::internal
