// MPI behind Processes. processes.cpp where the build found MPI; missing.cpp where there is none.
#pragma once

#include <memory>

#include "parallel/processes.h"

namespace dragoman {

// Throws UsageError where this program cannot.
std::unique_ptr<Processes> join_mpi();

}  // namespace dragoman
