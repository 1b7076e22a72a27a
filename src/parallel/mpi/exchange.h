// Exchange: one sum of floats over all processes, in progress.
//
// Each process owns a part of the values. All send it their values of that part, it adds them in the order of the
// processes' numbers and broadcasts the sum. This sends as much as any other algorithm, and the order of the additions
// is fixed, whatever MPI does.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/processes.h"

namespace dragoman::internal {

// On one communicator all processes must make their calls in the same order. Collecting and broadcasting overlap in
// ways that differ between processes, so each has its own.
struct Communicators {
  MPI_Comm collect, broadcast;
  int number, count;
};

class Exchange {
 public:
  explicit Exchange(const Communicators& communicators) : communicators_(communicators) {}

  // Starts to send the parts to their owners. Once it is done, another sum may follow, whose memory is there already.
  void start(std::span<float> values, GradientFormat wire);

  // Proceeds if that is possible without waiting. `may_broadcast`: all earlier exchanges have started to broadcast.
  void advance(bool may_broadcast);
  bool is_broadcasting() const { return stage_ != Stage::collecting; }
  bool is_done() const { return stage_ == Stage::done; }

 private:
  enum class Stage { collecting, broadcasting, done };

  void add_arrived();
  void broadcast();

  const Communicators& communicators_;
  std::span<float> values_ = {};
  GradientFormat wire_ = GradientFormat::fp32;
  Stage stage_ = Stage::collecting;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<int> counts_, begins_;                 // of all parts
  std::vector<int> own_counts_, own_begins_;         // of this process's part, as it arrives from all
  std::vector<float> arrived_;                       // in fp32
  std::vector<uint16_t> rounded_, arrived_rounded_;  // in bf16: all values, and those that arrived
};

// Throws "MPI cannot ACTION: ..." where MPI reports an error.
void check_mpi(int code, const char* action);

}  // namespace dragoman::internal
