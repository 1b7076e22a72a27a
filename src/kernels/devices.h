// What --device names: a table of kernels, with its memory and what they run on.
//
//   auto     the first GPU that can be used, else the CPU. Where DRAGOMAN_ISA names an instruction set, the CPU.
//   cpu      the table that chosen_kernels() takes
//   cuda     the first GPU that can be used
//   cuda:1   the GPU of this number
// and for those that share their work among several GPUs of one kind
//   cuda:0,cuda:2   these
//   cuda:all        all that can be used
//
// Where several processes train together on one machine, `auto` and `cuda` are the first GPU for the first process, the
// second one for the second, and so on (set_local_process).
//
// GPUs are used through a plug-in, libdragoman_cuda.so, so that the program itself needs nothing of NVIDIA's. It is
// opened when one of these functions first asks for it; DRAGOMAN_CUDA_PLUGIN may name another file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_sums.h"
#include "kernels/kernels.h"

namespace dragoman::internal {

// Throws Error, one sentence, where there is no such device or it cannot be used.
const Kernels& kernels_of_device(std::string_view device);

// Of the processes on this machine that train together, this is the one of this number, from 0.
void set_local_process(int number);

// One table for each, at least one.
std::vector<const Kernels*> kernels_of_devices(std::string_view devices);

// For logs and reports: "avx512bf16", or "NVIDIA H100 80GB HBM3, driver 13.0".
std::string device_name(const Kernels& kernels);

bool is_gpu(const Kernels& kernels);

// Bytes of a GPU's memory that no one uses now; 0 for the CPU.
int64_t free_device_memory(const Kernels& kernels);

// The same GPU with products of floats that are rounded to tf32; for the CPU, the same table.
const Kernels& with_tf32(const Kernels& kernels);

// What processes must know of each other's devices before they sum in their memory.
struct SummingDevice {
  bool is_gpu = false;
  std::array<unsigned char, 16> id = {};  // another one for every GPU
  int nccl = 0;                           // NCCL's version, 22907 for 2.29.7; 0: it cannot be used
  std::string problem;                    // then, why
};
SummingDevice summing_device(const Kernels& kernels);

DeviceSumsId new_device_sums_id(const Kernels& kernels);
// Waits until all of the group's processes have called it.
std::unique_ptr<DeviceSums> open_device_sums(const Kernels& kernels, const DeviceSumsGroup& group);

struct GpuDescription {
  std::string device;   // "cuda:0"
  std::string name;     // "NVIDIA H100 80GB HBM3"
  std::string problem;  // empty, or why it cannot be used
  int64_t memory;
};

// All GPUs that the plug-in finds; none where there is no plug-in or no driver.
std::vector<GpuDescription> gpus();

// Empty where "cuda" can be used, else what kernels_of_device("cuda") throws.
std::string why_no_gpu();

}  // namespace dragoman::internal
