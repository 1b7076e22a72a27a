// A twin of the plug-in, for tests of the whole program: all of src/kernels/cuda/gpu/, on GPUs that tests make up, whose
// kernels the host runs. TWIN_GPUS says how many there are; without it, two.
#include <cstdlib>

#include "gpu/fake_gpu.h"

namespace dragoman::internal {
namespace {

const bool has_gpus = [] {
  const char* const count = std::getenv("TWIN_GPUS");
  fake_gpu().count = count == nullptr ? 2 : std::atoi(count);
  return true;
}();

}  // namespace
}  // namespace dragoman::internal
