// Heartbeat: tells when another process has died or hangs.
//
// MPI does not notice either: a process that waits for a dead one waits forever. So the first process has a TCP
// connection to every other one, over which both send a heartbeat each second. A connection that closes without a
// message means that the process died, a timeout that it hangs; the first process passes this on to the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dragoman::internal {

struct LostProcess {
  enum class Reason { died, timed_out, failed } reason;  // failed: with an error that it reports itself
  int number;
};

class Heartbeat {
 public:
  // Where the first process can be reached: a port, and the addresses of its machine.
  struct Endpoint {
    int32_t key = 0;  // which a connecting process must present
    uint16_t port = 0;
    uint16_t count = 0;
    uint32_t addresses[14] = {};  // IPv4, in network byte order
  };

  // `on_lost` is called once, by the heartbeat's thread, when a process is lost.
  Heartbeat(int number, int count, std::function<void(LostProcess)> on_lost);
  ~Heartbeat();  // without leave(): tells the others that this process has failed
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  Endpoint endpoint() const;          // of the first process: the others have none
  void start(const Endpoint& first);  // connects, and starts the thread. Throws Error where it cannot.
  void leave();                       // the others may go on without this process
  void fail();                        // tells them at once that it has failed

  void set_timeout(double seconds);

  // The process that was lost, if any.
  std::optional<LostProcess> lost() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman::internal
