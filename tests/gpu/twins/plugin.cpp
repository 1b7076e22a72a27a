// A twin of the plug-in, for tests of the whole program: all of src/kernels/cuda/gpu/, on GPUs that tests make up,
// whose kernels the host runs. TWIN_GPUS says how many there are (two), TWIN_FAILING_WAIT_OF_1 at which wait for it the
// GPU of process 1 fails (never).
#include <cstdlib>
#include <string>

#include "gpu/fake_gpu.h"

namespace dragoman::internal {
namespace {

void set_from(const std::string& variable, int& number) {
  if (const char* const value = std::getenv(variable.c_str())) number = std::atoi(value);
}

const bool has_gpus = [] {
  fake_gpu().count = 2;
  set_from("TWIN_GPUS", fake_gpu().count);
  if (const char* const process = std::getenv("OMPI_COMM_WORLD_RANK"))
    set_from(std::string("TWIN_FAILING_WAIT_OF_") + process, fake_gpu().failing_wait);
  return true;
}();

}  // namespace
}  // namespace dragoman::internal
