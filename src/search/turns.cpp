#include "search/turns.h"

#include <algorithm>

namespace dragoman::internal {

Turn Turns::next(uint64_t client, double cost) {
  double& end = ends_[client];
  const Turn turn = {std::max(now_, end), cost};
  end = turn.start + cost;
  if (ends_.size() >= forget_at_) {
    std::erase_if(ends_, [&](const auto& client_end) { return client_end.second <= now_; });
    forget_at_ = std::max<size_t>(64, 2 * ends_.size());
  }
  return turn;
}

void Turns::reach(double start) { now_ = std::max(now_, start); }

}  // namespace dragoman::internal
