#include "kernels/cuda/gpu/gpu.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/gpu/fail.h"

namespace dragoman::internal {
namespace {

constexpr size_t download_size = size_t{2} << 20;

}  // namespace

Gpu& Gpu::of(int number) {
  static std::mutex mutex;
  static Gpu* opened[most_gpus] = {};
  const std::lock_guard lock(mutex);
  Gpu*& gpu = opened[number];
  if (gpu == nullptr) gpu = new Gpu(number);
  return *gpu;
}

Gpu::Gpu(int number) : number_(number) {
  cudaDeviceProp properties = {};
  name_ = "cuda:" + std::to_string(number);
  must_start(cudaGetDeviceProperties(&properties, number));
  name_ = "cuda:" + std::to_string(number) + " (" + properties.name + ")";
  must_start(cudaSetDevice(number));
  // A stream that waits for no other one of the process.
  must_start(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  must_start(cudaHostAlloc(&download_buffer_, download_size, cudaHostAllocDefault));
  const cublasStatus_t status = cublasLtCreate(&products_);
  if (status != CUBLAS_STATUS_SUCCESS)
    fail("cuBLASLt cannot be started on " + name_ + ": " + cublasLtGetStatusString(status));
}

void Gpu::must_start(cudaError_t status) const {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // it is reported here
  fail(name_ + " cannot be used: " + cudaGetErrorString(status) + "; see with nvidia-smi what else uses it");
}

void Gpu::wait(const char* doing) const {
  use();
  check(cudaStreamSynchronize(stream_), doing);
}

void Gpu::download(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(download_mutex_);
  use();
  for (size_t done = 0; done < bytes; done += download_size) {
    const size_t size = std::min(bytes - done, download_size);
    check(cudaMemcpyAsync(download_buffer_, static_cast<const char*>(from) + done, size,
                          cudaMemcpyDeviceToHost, stream_),
          "a download");
    wait("a download");
    std::memcpy(static_cast<char*>(to) + done, download_buffer_, size);
  }
}

void* Gpu::allocate(size_t bytes) const {
  use();
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, std::max<size_t>(bytes, 1), stream_);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes);
  check(status, "an allocation");
  return data;
}

void Gpu::free(void* data) const noexcept {
  if (data == nullptr) return;
  use();
  cudaFreeAsync(data, stream_);  // a GPU that is lost has nothing to free
}

void Gpu::trim() const noexcept {
  use();
  cudaMemPool_t pool = nullptr;
  if (cudaStreamSynchronize(stream_) == cudaSuccess &&
      cudaDeviceGetDefaultMemPool(&pool, number_) == cudaSuccess)
    cudaMemPoolTrimTo(pool, 0);
}

void Gpu::out_of_memory(size_t wanted) const {
  cudaGetLastError();  // it is reported here
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  const std::string more = wanted == 0 ? "more is" : size_in_words(wanted) + " more are";
  fail(name_ + " has " + size_in_words(free) + " of its " + size_in_words(total) + " free, but " + more +
       " needed: make batch_tokens or the model smaller, or stop what else uses the GPU");
}

bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorMemoryAllocation:
    case cudaErrorNotSupported:
      return false;
    default:
      return true;
  }
}

void Gpu::failed(cudaError_t status, const char* doing) const {
  const std::string words = cudaGetErrorString(status);
  cudaGetLastError();  // it is reported here
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidKernelImage)
    fail(name_ + " cannot run this build's kernels (" + words +
         "): name its architecture in DRAGOMAN_CUDA_ARCHITECTURES and build again");
  if (status == cudaErrorMemoryAllocation) out_of_memory(0);
  if (is_lost(status))
    fail(name_ + " has failed, which was found at " + doing + ": " + words +
         "; what it computed is lost, so start again: training goes on from its last checkpoint");
  fail(name_ + " refuses " + doing + ": " + words);
}

}  // namespace dragoman::internal
