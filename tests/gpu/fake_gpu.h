// A GPU that tests make up, so that the plug-in's own code (src/kernels/cuda/gpu/) runs without one: those functions of
// CUDA's that it calls. Device memory is the host's; of a range of addresses only what is mapped may be touched.
//
// What a stream is asked for is done when someone waits for it, and not before: staging memory that is written again
// too early, or memory that is given back too early, shows in the results.
#pragma once

#include <cublasLt.h>

#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/fake_stream.h"

namespace dragoman::internal {

// A matrix as cuBLASLt knows it: by columns.
struct FakeLayout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t stride;
};

struct FakeProduct {
  cublasComputeType_t computing;
  bool a_transposed, b_transposed;
  cublasLtEpilogue_t epilogue;
  const void* bias;
};

// What the heuristic was asked for.
struct FakeQuestion {
  FakeProduct product;
  FakeLayout a, b, c;
  uint32_t a_alignment, b_alignment, c_alignment, reductions;
};

struct FakeGpu {
  int driver_version = 13000;
  int count = 1;
  cudaError_t count_status = cudaSuccess;
  cudaError_t start_status = cudaSuccess;   // of a new stream
  cudaError_t launch_status = cudaSuccess;  // of the next launch
  cudaError_t failure = cudaSuccess;        // of every wait
  int failing_wait = -1;                    // with this one the GPU is lost
  size_t capacity = size_t{1} << 30;
  bool only_splits = false;  // cuBLASLt knows no algorithm but those that split the sum
  uint64_t refused_rows[2] =
      {};  // by its algorithms 2 and 3: products of this many rows, as we see them, or fewer

  size_t used = 0;
  std::vector<size_t> mapped = {};  // the size of each piece
  int waits = 0;                    // for the stream, or for an event that had not happened
  std::vector<FakeQuestion> questions = {};
  std::vector<int> algorithms = {};  // of the products

  FakeStream stream = {};  // the first; each other one is where it was created

  void run_all() { stream.run_all(); }
};

FakeGpu& fake_gpu();
// All streams do what they can.
void let_time_pass();
size_t other_stream_count();  // beside the first
// All is as at first, but the stream goes on.
void reset_fake_gpu();
// From here on a failure of the plug-in's is an Error.
void report_failures();
std::string failure_of(const std::function<void()>& call);

}  // namespace dragoman::internal
