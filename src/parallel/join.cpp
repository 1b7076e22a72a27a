#include "parallel/join.h"

#include <cstdlib>

namespace dragoman::internal {
namespace {

// Open MPI and MPICH give the number of processes. What Slurm and others start by PMIx has only a rank.
bool started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  }
  return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

std::unique_ptr<Processes> join_processes() {
  if (started_together()) return join_mpi();
  return std::make_unique<SingleProcess>();
}

}  // namespace dragoman::internal
