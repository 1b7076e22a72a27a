// Two GPUs that are this host, as a plug-in that the program opens (DRAGOMAN_CUDA_PLUGIN): their kernels run on fibers,
// and each has a memory of its own. HOST_GPUS_FREE: how many bytes of it are free; 8 GiB unless it says.
#include <cstdio>
#include <cstdlib>

#include "host_gpus/host_gpus.h"
#include "kernels/cuda/host/context.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda_plugin.h"
#include "tensor/losable_memory.h"

namespace dragoman::internal {
namespace {

constexpr int gpus = 2;

template <int gpu>
LosableMemory& memory_of() {
  static auto* const memory = new LosableMemory;
  return *memory;
}
template <int gpu>
DeviceMemory& device_memory() {
  return memory_of<gpu>();
}

void start(void (*)(const char* message)) {}

CudaDriver driver() { return {13010, 13000, 130102, gpus, nullptr}; }

void describe(int, CudaGpu* description) {
  std::snprintf(description->name, sizeof(description->name), "Host");
  description->major = 9;
  description->minor = 0;
  description->memory = int64_t{80} << 30;
}

int64_t free_memory(int) {
  const char* const given = std::getenv("HOST_GPUS_FREE");
  return given == nullptr ? int64_t{8} << 30 : std::atoll(given);
}

const Kernels* table(int gpu, bool tf32) {
  static const auto made = [](bool rounds, DeviceMemory& (*memory)()) {
    Kernels kernels = cuda_kernels_on("host-gpu", new_host_gpu_context, memory);
    if (rounds) use_tf32(kernels);
    return kernels;
  };
  static const Kernels tables[gpus][2] = {{made(false, device_memory<0>), made(true, device_memory<0>)},
                                          {made(false, device_memory<1>), made(true, device_memory<1>)}};
  return &tables[gpu][tf32 ? 1 : 0];
}

}  // namespace
}  // namespace dragoman::internal

extern "C" __attribute__((visibility("default"))) const dragoman::internal::CudaPlugin*
dragoman_cuda_plugin() {
  using namespace dragoman::internal;
  static const CudaPlugin plugin = {HOST_GPUS_VERSION,
                                    cuda_plugin_tables_size,
                                    start,
                                    driver,
                                    describe,
                                    free_memory,
                                    table,
                                    [] {
                                      return NcclLibrary{0, "none here"};
                                    },
                                    nullptr,
                                    nullptr};
  return &plugin;
}

extern "C" __attribute__((visibility("default"))) int host_gpu_waits(int gpu) {
  using namespace dragoman::internal;
  return gpu == 0 ? memory_of<0>().waits : memory_of<1>().waits;
}
