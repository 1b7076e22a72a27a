// What the program and its plug-in libdragoman_cuda.so know of each other: one exported function that returns this
// table. Plain types only, since the two may be linked with different C++ libraries.
#pragma once

#include <stdint.h>

#include "kernels/device_sums.h"
#include "kernels/kernels.h"

namespace dragoman::internal {

// CUDA's numbers: 13000 is 13.0.
struct CudaDriver {
  int version;           // of CUDA, that the driver can run; 0: there is no driver
  int runtime_version;   // of CUDA, that the plug-in was built with
  int products_version;  // of cuBLASLt, whose choices decide the last bits: 130102 is 13.1.2
  int gpus;
  const char* problem;  // null, or what CUDA says of a driver that does not work
};

struct CudaGpu {
  char name[256];
  int major, minor;      // compute capability
  int64_t memory;        // bytes
  unsigned char id[16];  // unique to each GPU
};

// NCCL, which is opened when it is first asked for.
struct NcclLibrary {
  int version;          // 22907 is 2.29.7; 0: it cannot be used
  const char* problem;  // then, why
};

struct CudaPlugin {
  // First, and compared first: in another version nothing else need be where it is here. The size of the tables
  // tells builds from each other that were made between two versions.
  const char* version;
  int64_t tables_size;

  // Called once before all that follows. `fail` throws the program's Error, through the plug-in's functions.
  void (*start)(void (*fail)(const char* message));
  CudaDriver (*driver)();
  void (*describe)(int gpu, CudaGpu*);
  int64_t (*free_memory)(int gpu);
  // With products of floats exact, or of floats rounded to tf32. The same pointer at every call.
  const Kernels* (*table)(int gpu, bool tf32);

  // Sums over processes, by NCCL. open_sums() returns when all processes have called it; the caller owns the result.
  NcclLibrary (*nccl)();
  void (*new_sums_id)(DeviceSumsId*);
  DeviceSums* (*open_sums)(int gpu, const DeviceSumsGroup&);
};

constexpr int64_t cuda_plugin_tables_size = sizeof(Kernels) + sizeof(CudaPlugin);

using CudaPluginFunction = const CudaPlugin* (*)();
constexpr const char* cuda_plugin_function = "dragoman_cuda_plugin";
constexpr const char* cuda_plugin_file = "libdragoman_cuda.so";

}  // namespace dragoman::internal
