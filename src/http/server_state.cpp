#include "http/server_state.h"

namespace dragoman::internal {

OpenConnections::Verdict OpenConnections::add(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (size_ >= max_) return Verdict::full;
  size_t& count = per_address_[address];
  if (count >= max_per_address_) return Verdict::too_many_of_address;
  ++count;
  ++size_;
  return Verdict::admitted;
}

void OpenConnections::remove(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (const auto found = per_address_.find(address); --found->second == 0) per_address_.erase(found);
  if (--size_ == 0) empty_.notify_all();
}

size_t OpenConnections::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

bool OpenConnections::wait_until_empty(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  return empty_.wait_until(lock, deadline, [&] { return size_ == 0; });
}

}  // namespace dragoman::internal
