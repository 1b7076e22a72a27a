// CudaSums: sums over the GPUs of several processes, by NCCL, on a stream of their own.
//
// The order in which NCCL itself adds depends on how the GPUs are connected. So it only moves data: each process owns a
// part of the values, receives that part from every other one, and adds them in the order of the processes' numbers;
// then the sums are gathered. All of this is put on the stream at once; the host waits for it in finish() alone.
#pragma once

#include <memory>

#include "kernels/cuda/gpu/context.h"
#include "kernels/cuda/gpu/nccl.h"
#include "kernels/cuda/sums.h"
#include "kernels/device_sums.h"

namespace dragoman::internal {

// Throws Error where NCCL cannot be used.
DeviceSumsId new_nccl_id();

class CudaSums final : public DeviceSums {
 public:
  // Waits for all processes of the group.
  CudaSums(Gpu& gpu, const DeviceSumsGroup& group);
  ~CudaSums() override;

  void start(float* values, int64_t count, bool in_bf16) override;
  double finish() override;

 private:
  struct Slice;

  void open();
  void close() noexcept;
  Slice cut(float* values, int64_t count, bool in_bf16);
  char* memory(size_t bytes);
  void send_parts(const Slice& slice);
  void add_parts(const Slice& slice);
  void copy(void* to, const void* from, size_t bytes);
  void wait_for(cudaStream_t stream);
  void settle(NcclResult result, const char* doing);

  Gpu& gpu_;
  const DeviceSumsGroup group_;
  const Nccl& nccl_;
  const SumKernels& kernels_ = cuda_sum_kernels();
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
  NcclCommunicator* communicator_ = nullptr;
  std::unique_ptr<CudaContext> context_;  // of that stream
  char* memory_ = nullptr;
  size_t memory_size_ = 0;
};

}  // namespace dragoman::internal
