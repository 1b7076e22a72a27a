// Processes that are threads of a test: what several make together can be looked at in one place.
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "parallel/processes.h"

namespace dragoman {

class ThreadProcesses : public Processes {
 public:
  // What the threads share.
  struct Room {
    explicit Room(int count_) : count(count_), meeting(count_), sums(static_cast<size_t>(count_)) {}
    const int count;
    std::barrier<> meeting;
    std::vector<std::vector<std::span<float>>> sums;  // of each process, in the order in which they set out
    std::vector<std::byte> words;
  };

  ThreadProcesses(Room& room, int number) : room_(room), number_(number) {}

  int count() const override { return room_.count; }
  int number() const override { return number_; }
  int on_this_machine() const override { return room_.count; }
  int share_of_threads() const override { return 1; }
  void abandon_sums() override {}
  double seconds_waited() const override { return 0; }
  void set_heartbeat_timeout(double) override {}
  void leave() override {}

  void start_sum(std::span<float> values, Wire) override {
    room_.sums[static_cast<size_t>(number_)].push_back(values);
  }

  void finish_sums() override {
    room_.meeting.arrive_and_wait();
    if (number_ == 0) add_all();
    room_.meeting.arrive_and_wait();
    room_.sums[static_cast<size_t>(number_)].clear();
  }

  std::string from_first(const std::string& text) override {
    const size_t size = gather(text.size())[0];
    if (number_ == 0)
      room_.words.assign(reinterpret_cast<const std::byte*>(text.data()),
                         reinterpret_cast<const std::byte*>(text.data()) + size);
    room_.meeting.arrive_and_wait();
    std::string result(reinterpret_cast<const char*>(room_.words.data()), size);
    room_.meeting.arrive_and_wait();
    return result;
  }

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override {
    const size_t size = bytes * static_cast<size_t>(room_.count);
    if (number_ == 0) room_.words.resize(size);
    room_.meeting.arrive_and_wait();
    std::memcpy(room_.words.data() + bytes * static_cast<size_t>(number_), own, bytes);
    room_.meeting.arrive_and_wait();
    std::memcpy(all, room_.words.data(), size);
    room_.meeting.arrive_and_wait();
  }

 private:
  void add_all() {
    for (size_t slice = 0; slice < room_.sums[0].size(); ++slice) {
      const std::span<float> sum = room_.sums[0][slice];
      for (size_t i = 0; i < sum.size(); ++i) {
        for (size_t p = 1; p < room_.sums.size(); ++p) sum[i] += room_.sums[p].at(slice)[i];
        for (size_t p = 1; p < room_.sums.size(); ++p) room_.sums[p].at(slice)[i] = sum[i];
      }
    }
  }

  Room& room_;
  const int number_;
};

// work(processes) in a thread for each of `count` processes.
inline void run_together(int count, const std::function<void(Processes&)>& work) {
  ThreadProcesses::Room room(count);
  std::vector<std::jthread> threads;
  for (int number = 0; number < count; ++number) {
    threads.emplace_back([&room, &work, number] {
      ThreadProcesses processes(room, number);
      work(processes);
    });
  }
}

}  // namespace dragoman
