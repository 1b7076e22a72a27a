// The plug-in of tests/host_gpus/, where a test has one: two GPUs that are this host.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

extern "C" int host_gpu_waits(int gpu);

namespace dragoman::internal {

#if defined(DRAGOMAN_HOST_GPUS)
// The program and this process have these GPUs while it exists.
class HostGpus {
 public:
  HostGpus() { setenv("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_HOST_GPUS, 1); }
  ~HostGpus() {
    unsetenv("DRAGOMAN_CUDA_PLUGIN");
    unsetenv("HOST_GPUS_FREE");
  }
  HostGpus(const HostGpus&) = delete;
  HostGpus& operator=(const HostGpus&) = delete;

  void set_free_memory(const char* bytes) { setenv("HOST_GPUS_FREE", bytes, 1); }

  // How often this process has waited for a GPU.
  static int waits(int gpu) {
    void* const library = dlopen(DRAGOMAN_HOST_GPUS, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<decltype(&host_gpu_waits)>(dlsym(library, "host_gpu_waits"))(gpu);
  }
};
#endif

}  // namespace dragoman::internal
