// CUDA's runtime, of a GPU that tests make up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/fake_gpu.h"

using dragoman::internal::fake_gpu;
using dragoman::internal::FakeGpu;
using dragoman::internal::FakeStream;

namespace {

// It has happened when the stream has done this many tasks.
struct FakeEvent {
  FakeStream* stream = nullptr;
  size_t after = 0;

  bool wait() const { return stream == nullptr || stream->run_until(after); }
};

std::set<FakeStream*>& other_streams() {
  static auto* const streams = new std::set<FakeStream*>;
  return *streams;
}

FakeStream& stream_of(cudaStream_t stream) { return *reinterpret_cast<FakeStream*>(stream); }
FakeEvent& event_of(cudaEvent_t event) { return *reinterpret_cast<FakeEvent*>(event); }

std::map<void*, size_t>& allocations() {
  static auto* const sizes = new std::map<void*, size_t>;
  return *sizes;
}

cudaError_t last_error = cudaSuccess;

[[noreturn]] void wait_forever() {
  std::fputs("a stream is waited for that waits for another process\n", stderr);
  std::abort();
}

}  // namespace

void dragoman::internal::let_time_pass() {
  fake_gpu().run_all();
  for (FakeStream* stream : other_streams()) stream->run_all();
}

size_t dragoman::internal::other_stream_count() { return other_streams().size(); }

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = fake_gpu().driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake_gpu().count;
  return fake_gpu().count_status;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device >= fake_gpu().count) return cudaErrorInvalidDevice;
  *properties = {};
  std::strcpy(properties->name, "Fake");
  std::memcpy(&properties->uuid, &device, sizeof(device));
  properties->major = 9;
  properties->totalGlobalMem = fake_gpu().capacity;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(&fake_gpu().stream);
  return fake_gpu().start_status;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  auto* const created = new FakeStream;
  other_streams().insert(created);
  *stream = reinterpret_cast<cudaStream_t>(created);
  return flags == cudaStreamNonBlocking && priority == -5 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  other_streams().erase(&stream_of(stream));
  delete &stream_of(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FakeGpu& gpu = fake_gpu();
  if (gpu.waits++ == gpu.failing_wait) gpu.failure = cudaErrorIllegalAddress;
  if (!stream_of(stream).run_all()) wait_forever();
  return gpu.failure;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream_of(stream).queue.emplace_back([at = event_of(event)] { return at.wait(); });
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** data, size_t size, unsigned) {
  *data = std::malloc(size);
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** data, size_t size, cudaStream_t) {
  FakeGpu& gpu = fake_gpu();
  if (gpu.used + size > gpu.capacity) return last_error = cudaErrorMemoryAllocation;
  gpu.used += size;
  *data = std::aligned_alloc(256, (size + 255) / 256 * 256);
  allocations()[*data] = size;
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  stream_of(stream).add([data] {
    const size_t size = allocations().at(data);
    fake_gpu().used -= size;
    allocations().erase(data);
    std::memset(data, 0xee, size);  // seen by what comes later and reads it still
    std::free(data);
  });
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = fake_gpu().capacity;
  *free = *total - std::min(*total, fake_gpu().used);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t stream) {
  stream_of(stream).add([=] { std::memcpy(to, from, size); });
  return fake_gpu().failure;
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  stream_of(stream).add([=] {
    for (size_t row = 0; row < height; ++row) std::memset(static_cast<char*>(to) + row * pitch, value, width);
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new FakeEvent);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event_of(event) = {&stream_of(stream), stream_of(stream).end()};
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (fake_gpu().failure != cudaSuccess) return fake_gpu().failure;
  return event_of(event).wait() ? cudaSuccess : last_error = cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const FakeEvent& awaited = event_of(event);
  if (awaited.stream != nullptr && awaited.after > awaited.stream->done) ++fake_gpu().waits;
  if (!awaited.wait()) wait_forever();
  return fake_gpu().failure;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &event_of(event);
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  if (fake_gpu().launch_status != cudaSuccess) return std::exchange(fake_gpu().launch_status, cudaSuccess);
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "fake error";
}

}  // extern "C"
