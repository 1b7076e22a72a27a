// Exchange: one sum of floats over all processes, under way.
//
// Each process owns a part of the values. All send it their share of that part, it adds them in the order of the
// processes' numbers, and sends the sum to all. So much travels as with any other way, and the bits are those of one
// addition in one order, whatever MPI does.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/processes.h"

namespace dragoman {

// The two halves of an exchange are ordered each among themselves: they need a communicator each.
struct Communicators {
  MPI_Comm collect, broadcast;
  int number, count;
};

class Exchange {
 public:
  // The parts of the values set out for their owners.
  Exchange(const Communicators& communicators, std::span<float> values, Wire wire);

  // Goes on if that is possible now. `may_broadcast`: all exchanges before this one have begun to broadcast.
  void advance(bool may_broadcast);
  bool is_broadcasting() const { return stage_ != Stage::collecting; }
  bool is_done() const { return stage_ == Stage::done; }

 private:
  enum class Stage { collecting, broadcasting, done };

  void add_parts();
  void broadcast();

  const Communicators& communicators_;
  std::span<float> values_;
  Wire wire_;
  Stage stage_ = Stage::collecting;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<int> counts_, begins_;                 // of all parts
  std::vector<int> own_counts_, own_begins_;         // of the own part, as it arrives from everyone
  std::vector<float> arrived_;                       // fp32
  std::vector<uint16_t> rounded_, arrived_rounded_;  // bf16: all values, and what arrives
};

// Throws Error where MPI reports one.
void check_mpi(int code, const char* what);

}  // namespace dragoman
