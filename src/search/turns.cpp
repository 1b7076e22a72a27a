#include "search/turns.h"

#include <algorithm>
#include <vector>

namespace dragoman::internal {
namespace {

constexpr size_t most_clients = 512;

}  // namespace

Turn Turns::next(uint64_t client, double cost) {
  double& end = ends_[client];
  const Turn turn = {std::max(now_, end), cost};
  end = turn.start + cost;
  if (ends_.size() >= most_clients) forget_half();
  return turn;
}

// The half that has had the least. Where each request is of another client nobody's turn comes later than now, and
// unless time is moved on all would be remembered for ever.
void Turns::forget_half() {
  std::vector<double> ends;
  for (const auto& [client, end] : ends_) ends.push_back(end);
  std::ranges::nth_element(ends, ends.begin() + most_clients / 2);
  reach(ends[most_clients / 2]);
  std::erase_if(ends_, [&](const auto& client_end) { return client_end.second <= now_; });
}

void Turns::reach(double start) { now_ = std::max(now_, start); }

}  // namespace dragoman::internal
