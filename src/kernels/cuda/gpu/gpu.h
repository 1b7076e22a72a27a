// Gpu: one GPU as all its contexts and its memory share it. All work goes to one stream, in the order in which it was
// asked for, whichever thread asks.
#pragma once

#include <cublasLt.h>

#include <mutex>
#include <string>

#include <cuda_runtime_api.h>

namespace dragoman::internal {

constexpr int most_gpus = 16;

class Gpu {
 public:
  // Opened when it is first asked for, and never closed: what is freed at the program's end may still use it.
  static Gpu& of(int number);

  int number() const { return number_; }
  const std::string& name() const { return name_; }  // "cuda:0 (NVIDIA H100 80GB HBM3)"
  cudaStream_t stream() const { return stream_; }
  cublasLtHandle_t products() const { return products_; }

  // CUDA's calls of this thread are for this GPU, from here on.
  void use() const noexcept { cudaSetDevice(number_); }

  // Throws Error unless it is cudaSuccess; `doing` is what was tried, or the kernel's name.
  void check(cudaError_t status, const char* doing) const {
    if (status != cudaSuccess) failed(status, doing);
  }

  // The same while it is being opened.
  void must_start(cudaError_t status) const;

  // For all that the stream was asked for so far; throws Error if any of it failed.
  void wait(const char* doing) const;
  // Copies to the host, and waits for it.
  void download(void* to, const void* from, size_t bytes);

  // Memory that belongs to the stream's order: what is asked for after allocate() may use it, what was asked for before
  // free() may, too.
  void* allocate(size_t bytes) const;
  void free(void* data) const noexcept;

  // What free() keeps for the next allocate() goes back to the GPU.
  void trim() const noexcept;
  [[noreturn]] void out_of_memory(size_t wanted) const;

 private:
  explicit Gpu(int number);
  [[noreturn]] void failed(cudaError_t status, const char* doing) const;

  int number_;
  std::string name_;
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t products_ = nullptr;
  std::mutex download_mutex_;
  void* download_buffer_ = nullptr;
};

// Whether a GPU answers nothing any more: every later call says the same.
bool is_lost(cudaError_t status);

}  // namespace dragoman::internal
