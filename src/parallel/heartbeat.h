// Heartbeat: signs of life between processes, beside whatever carries their data.
//
// MPI cannot tell that a process has died or hangs: whoever waits for it waits forever. So the first process has a
// connection to every other one, over which both say once a second that they are alive. A connection that closes
// without a word is a death, silence a hang; the first one tells the others whom they lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dragoman {

struct Lost {
  enum class How { died, silent, ended } how;  // ended: by an error, of which it says the rest itself
  int number;
};

class Heartbeat {
 public:
  // Where the first process can be reached: a port, and the addresses that its machine has.
  struct Endpoint {
    int32_t key = 0;  // to be shown by who comes in
    uint16_t port = 0;
    uint16_t count = 0;
    uint32_t addresses[14] = {};  // IPv4, as the network orders bytes
  };

  // `on_lost` is called once, by a thread of its own, as soon as somebody is lost.
  Heartbeat(int number, int count, std::function<void(Lost)> on_lost);
  ~Heartbeat();  // without leave(): the others hear that this one has ended by an error
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  Endpoint endpoint() const;          // the first one's
  void start(const Endpoint& first);  // connects, and beats from here on. Throws Error where it cannot.
  void leave();                       // the others know that this one is done

  void set_heartbeat_timeout(double seconds);

  // Whether somebody was lost; says who to `lost`.
  bool has_lost(Lost& lost) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman
