#include "parallel/join.h"

namespace dragoman::internal {

std::unique_ptr<Processes> join_mpi() {
  throw UsageError(
      "several processes were started to train together, but this program was built without MPI: install "
      "Open MPI (libopenmpi-dev) and build again, or start one process");
}

}  // namespace dragoman::internal
