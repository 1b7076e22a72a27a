#include "parallel/processes.h"

#include <cstdlib>
#include <cstring>

#include "base/threads.h"
#include "parallel/mpi/join.h"

namespace dragoman {
namespace {

class OneProcess : public Processes {
 public:
  int count() const override { return 1; }
  int number() const override { return 0; }
  int on_this_machine() const override { return 1; }
  int share_of_threads() const override { return available_threads(); }
  void start_sum(std::span<float>, Wire) override {}
  void finish_sums() override {}
  void abandon_sums() override {}
  std::string from_first(const std::string& text) override { return text; }
  double seconds_waited() const override { return 0; }
  void set_heartbeat_timeout(double) override {}
  void leave() override {}

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override { std::memcpy(all, own, bytes); }
};

// The number of processes that a launcher says it has started: those of Open MPI and MPICH, and what Slurm and others
// start by PMIx, which gives no number away.
bool started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  }
  return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

Processes& single_process() {
  static OneProcess one;
  return one;
}

std::unique_ptr<Processes> join_processes() {
  if (started_together()) return join_mpi();
  return std::make_unique<OneProcess>();
}

}  // namespace dragoman
