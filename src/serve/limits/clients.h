// ClientLimits: a client's concurrent requests, and the characters translated for it recently.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace dragoman::internal {

class ClientLimits {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ClientLimits(int64_t requests_at_once, int64_t characters_per_minute)
      : requests_(requests_at_once), characters_per_minute_(characters_per_minute) {}

  // A request under way, while it is held; null where the client has reached its limit.
  std::shared_ptr<void> begin(const std::string& client);
  bool full(const std::string& client);  // whether `begin` would return null

  // Takes the characters from what the client may have translated. Where that is used up: the seconds until it has
  // enough again; 0: taken. A request larger than a minute's characters waits for a whole minute's.
  int64_t take(const std::string& client, int64_t characters, Time now);
  // The same without taking any: 0 where the client has some left.
  int64_t wait(const std::string& client, Time now);

 private:
  struct Client {
    int64_t requests = 0;
    double used = 0;  // characters, of which a sixtieth of a minute's is given back each second
    Time at = {};
  };
  double used(Client& client, Time now) const;
  void forget_idle(Time now);
  void end(const std::string& client);

  const int64_t requests_, characters_per_minute_;
  std::mutex mutex_;
  std::unordered_map<std::string, Client>
      clients_;              // those with a request under way, or who used some recently
  size_t forget_at_ = 1024;  // clients
};

}  // namespace dragoman::internal
