// Population: the open connections, in all and of each address, and their limits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace dragoman::internal {

class Population {
 public:
  Population(size_t max, size_t max_of_one_address) : max_(max), max_of_one_(max_of_one_address) {}

  enum class Verdict { admitted, full, too_many_of_address };
  Verdict add(const std::string& address);  // admitted: `remove` is to follow
  void remove(const std::string& address);
  size_t size() const;
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) const;

 private:
  const size_t max_, max_of_one_;
  mutable std::mutex mutex_;
  mutable std::condition_variable empty_;
  size_t size_ = 0;
  std::map<std::string, size_t> of_address_;
};

}  // namespace dragoman::internal
