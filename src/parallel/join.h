// Joining the processes that a launcher such as mpirun started together.
#pragma once

#include <memory>

#include "parallel/processes.h"

namespace dragoman::internal {

// All processes that were started together with this one; without a launcher, only this one.
std::unique_ptr<Processes> join_processes();

// The same by MPI: mpi/processes.cpp, or mpi/missing.cpp where the build found none, which throws UsageError.
std::unique_ptr<Processes> join_mpi();

}  // namespace dragoman::internal
