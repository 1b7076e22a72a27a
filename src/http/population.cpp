#include "http/population.h"

namespace dragoman::internal {

Population::Verdict Population::add(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (size_ >= max_) return Verdict::full;
  size_t& count = of_address_[address];
  if (count >= max_of_one_) return Verdict::too_many_of_address;
  ++count;
  ++size_;
  return Verdict::admitted;
}

void Population::remove(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (const auto found = of_address_.find(address); --found->second == 0) of_address_.erase(found);
  if (--size_ == 0) empty_.notify_all();
}

size_t Population::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

bool Population::wait_until_empty(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  return empty_.wait_until(lock, deadline, [&] { return size_ == 0; });
}

}  // namespace dragoman::internal
