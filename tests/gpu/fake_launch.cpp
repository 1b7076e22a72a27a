// Kernels that the host runs (src/kernels/cuda/host/) go on the streams of the GPU that tests make up.
#include "gpu/fake_stream.h"
#include "kernels/cuda/host/machine.h"
#include "kernels/memory.h"

namespace dragoman::internal {
namespace {

const bool launches_go_on_streams = [] {
  on_host::put_on_stream = [](void* stream, std::function<void()> launch) {
    static_cast<FakeStream*>(stream)->add(std::move(launch));
  };
  return true;
}();

}  // namespace

// Of the host's own table, which is not here.
DeviceMemory& cpu_memory() { std::abort(); }

}  // namespace dragoman::internal
