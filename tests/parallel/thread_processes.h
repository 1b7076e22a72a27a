// Processes that are threads of a test, so that it can compare their results.
#pragma once

#include <atomic>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "parallel/processes.h"

namespace dragoman::internal {

class ThreadProcesses : public Processes {
 public:
  struct Shared {
    explicit Shared(int count_) : count(count_), barrier(count_), sums(static_cast<size_t>(count_)) {}
    const int count;
    std::barrier<> barrier;
    std::vector<std::vector<std::span<float>>> sums;  // of each process, in the order of start_sum()
    std::vector<std::byte> bytes;
  };

  ThreadProcesses(Shared& shared, int number) : shared_(shared), number_(number) {}

  int count() const override { return shared_.count; }
  int number() const override { return number_; }
  int local_count() const override { return shared_.count; }
  int share_of_threads() const override { return 1; }
  void use_device(const Kernels&) override {}
  bool sums_device_memory() const override { return false; }
  void cancel_sums() override {}
  double seconds_waited() const override { return 0; }
  void set_heartbeat_timeout(double) override {}
  void shutdown() override {}

  void start_sum(std::span<float> values, GradientFormat) override {
    shared_.sums[static_cast<size_t>(number_)].push_back(values);
  }

  void finish_sums() override {
    shared_.barrier.arrive_and_wait();
    if (number_ == 0) add_all();
    shared_.barrier.arrive_and_wait();
    shared_.sums[static_cast<size_t>(number_)].clear();
  }

  std::string broadcast(const std::string& text) override {
    const size_t size = gather(text.size())[0];
    if (number_ == 0)
      shared_.bytes.assign(reinterpret_cast<const std::byte*>(text.data()),
                           reinterpret_cast<const std::byte*>(text.data()) + size);
    shared_.barrier.arrive_and_wait();
    std::string result(reinterpret_cast<const char*>(shared_.bytes.data()), size);
    shared_.barrier.arrive_and_wait();
    return result;
  }

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override {
    const size_t size = bytes * static_cast<size_t>(shared_.count);
    if (number_ == 0) shared_.bytes.resize(size);
    shared_.barrier.arrive_and_wait();
    std::memcpy(shared_.bytes.data() + bytes * static_cast<size_t>(number_), own, bytes);
    shared_.barrier.arrive_and_wait();
    std::memcpy(all, shared_.bytes.data(), size);
    shared_.barrier.arrive_and_wait();
  }

 private:
  void add_all() {
    for (size_t slice = 0; slice < shared_.sums[0].size(); ++slice) {
      const std::span<float> sum = shared_.sums[0][slice];
      for (size_t i = 0; i < sum.size(); ++i) {
        for (size_t p = 1; p < shared_.sums.size(); ++p) sum[i] += shared_.sums[p].at(slice)[i];
        for (size_t p = 1; p < shared_.sums.size(); ++p) shared_.sums[p].at(slice)[i] = sum[i];
      }
    }
  }

  Shared& shared_;
  const int number_;
};

// work(processes) in a thread for each of `count` processes.
inline void run_together(int count, const std::function<void(Processes&)>& work) {
  ThreadProcesses::Shared shared(count);
  std::vector<std::jthread> threads;
  for (int number = 0; number < count; ++number) {
    threads.emplace_back([&shared, &work, number] {
      ThreadProcesses processes(shared, number);
      work(processes);
    });
  }
}

}  // namespace dragoman::internal
