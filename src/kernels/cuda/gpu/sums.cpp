#include "kernels/cuda/gpu/sums.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/cuda/gpu/fail.h"

namespace dragoman::internal {
namespace {

constexpr int64_t part_multiple = 16;  // elements, so that every part begins where many can be read at once
constexpr size_t alignment = 256;

const Nccl& nccl() {
  const NcclFound& found = find_nccl();
  if (found.version == 0) fail(found.problem);
  return found.functions;
}

bool is_error(NcclResult result) {
  return result != NcclResult::success && result != NcclResult::in_progress;
}

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

DeviceSumsId new_nccl_id() {
  NcclId id = {};
  if (const NcclResult result = nccl().get_id(&id); result != NcclResult::success)
    fail(std::string("NCCL cannot start: ") + nccl().words_of(result));
  DeviceSumsId copy = {};
  static_assert(sizeof(copy) == sizeof(id));
  std::memcpy(&copy, &id, sizeof(id));
  return copy;
}

// A sum, and where its numbers are on their way: in the format in which they are sent.
struct CudaSums::Slice {
  float* values;
  int64_t count;
  int64_t part;  // elements that a process owns; the last ones may own fewer, or none
  bool in_bf16;
  char* outgoing = nullptr;  // `count` elements
  char* arrived = nullptr;   // of all processes, in their order, the part that this one owns
  char* gathered = nullptr;  // the sums: as many parts as there are processes

  int64_t part_of(int process) const { return std::clamp<int64_t>(count - process * part, 0, part); }
  size_t bytes(int64_t elements) const { return static_cast<size_t>(elements) * (in_bf16 ? 2 : 4); }
  NcclType type() const { return in_bf16 ? NcclType::bfloat16 : NcclType::float32; }
};

CudaSums::CudaSums(Gpu& gpu, const DeviceSumsGroup& group) : gpu_(gpu), group_(group), nccl_(nccl()) {
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

CudaSums::~CudaSums() { close(); }

// Its kernels go first, where a GPU's processors are wanted by others, too: all processes wait for them.
void CudaSums::open() {
  gpu_.use();
  int least = 0, greatest = 0;
  gpu_.must_start(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  gpu_.must_start(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  gpu_.must_start(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  context_ = std::make_unique<CudaContext>(gpu_, 1, stream_);
  NcclId id = {};
  std::memcpy(&id, &group_.id, sizeof(id));
  NcclConfig config = nccl_config();
  settle(nccl_.open(&communicator_, group_.count, id, group_.number, &config), "connecting processes");
}

// NCCL's kernels wait for other processes, which may be gone: they are stopped.
void CudaSums::close() noexcept {
  gpu_.use();
  if (communicator_ != nullptr) nccl_.abort(communicator_);
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  gpu_.free(memory_);
  context_.reset();
  if (event_ != nullptr) cudaEventDestroy(event_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

// Memory is allocated in the order of the GPU's own stream, which start() makes this one wait for. Until then
// sums in progress use the old memory.
char* CudaSums::memory(size_t bytes) {
  if (bytes > memory_size_) {
    if (memory_ != nullptr) finish();
    gpu_.free(memory_);
    memory_ = nullptr;
    memory_size_ = 0;
    memory_ = static_cast<char*>(gpu_.allocate(bytes));
    memory_size_ = bytes;
  }
  return memory_;
}

CudaSums::Slice CudaSums::cut(float* values, int64_t count, bool in_bf16) {
  const int64_t multiple = group_.count * part_multiple;
  Slice slice = {.values = values,
                 .count = count,
                 .part = (count + multiple - 1) / multiple * part_multiple,
                 .in_bf16 = in_bf16};
  const size_t parts = aligned(slice.bytes(slice.part * group_.count));
  const size_t outgoing = in_bf16 ? aligned(slice.bytes(count)) : 0;
  slice.arrived = memory(2 * parts + outgoing);
  slice.gathered = slice.arrived + parts;
  slice.outgoing = in_bf16 ? slice.gathered + parts : reinterpret_cast<char*>(values);
  return slice;
}

void CudaSums::start(float* values, int64_t count, bool in_bf16) {
  gpu_.use();
  const Slice slice = cut(values, count, in_bf16);
  gpu_.check(cudaEventRecord(event_, gpu_.stream()), "a sum over processes");
  gpu_.check(cudaStreamWaitEvent(stream_, event_, 0), "a sum over processes");
  if (in_bf16) kernels_.round(*context_, count, values, reinterpret_cast<uint16_t*>(slice.outgoing));
  send_parts(slice);
  add_parts(slice);
  const size_t own = slice.bytes(group_.number * slice.part);
  settle(nccl_.all_gather(slice.gathered + own, slice.gathered, static_cast<size_t>(slice.part), slice.type(),
                          communicator_, stream_),
         "gathering sums");
  if (in_bf16) {
    kernels_.widen(*context_, count, reinterpret_cast<const uint16_t*>(slice.gathered), values);
  } else {
    copy(values, slice.gathered, slice.bytes(count));
  }
}

// Each process's part to that process, and the own one from all.
void CudaSums::send_parts(const Slice& slice) {
  const int64_t own = slice.part_of(group_.number);
  const auto begin = [&](int process) { return slice.bytes(process * slice.part); };
  copy(slice.arrived + begin(group_.number), slice.outgoing + begin(group_.number), slice.bytes(own));
  NcclResult result = nccl_.begin_group();
  const auto add = [&](NcclResult one) {
    if (!is_error(result)) result = one;
  };
  for (int other = 0; other < group_.count; ++other) {
    if (other == group_.number) continue;
    if (const int64_t its = slice.part_of(other); its > 0)
      add(nccl_.send(slice.outgoing + begin(other), static_cast<size_t>(its), slice.type(), other,
                     communicator_, stream_));
    if (own > 0)
      add(nccl_.receive(slice.arrived + begin(other), static_cast<size_t>(own), slice.type(), other,
                        communicator_, stream_));
  }
  add(nccl_.end_group());
  settle(result, "sending gradients");
}

void CudaSums::add_parts(const Slice& slice) {
  const int64_t own = slice.part_of(group_.number);
  if (own == 0) return;
  char* const sums = slice.gathered + slice.bytes(group_.number * slice.part);
  if (slice.in_bf16) {
    kernels_.add_in_bf16(*context_, group_.count, slice.part, own,
                         reinterpret_cast<const uint16_t*>(slice.arrived), reinterpret_cast<uint16_t*>(sums));
  } else {
    kernels_.add(*context_, group_.count, slice.part, own, reinterpret_cast<const float*>(slice.arrived),
                 reinterpret_cast<float*>(sums));
  }
}

void CudaSums::copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) gpu_.check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "a copy");
}

double CudaSums::finish() {
  wait_for(gpu_.stream());
  const auto begin = std::chrono::steady_clock::now();
  wait_for(stream_);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void CudaSums::wait_for(cudaStream_t stream) {
  gpu_.use();
  gpu_.check(cudaEventRecord(event_, stream), "a sum over processes");
  for (;;) {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) gpu_.check(status, "a sum over processes");
    cudaGetLastError();  // that it is not ready is no failure of what comes next
    NcclResult state = NcclResult::success;
    settle(nccl_.get_state(communicator_, &state), "a sum over processes");
    settle(state, "a sum over processes");
    group_.pause(group_.argument);
  }
}

// What is in progress, such as a connection that is used for the first time, may wait for other processes.
void CudaSums::settle(NcclResult result, const char* doing) {
  while (result == NcclResult::in_progress) {
    group_.pause(group_.argument);
    const NcclResult asked = nccl_.get_state(communicator_, &result);
    if (asked != NcclResult::success) result = asked;
  }
  if (!is_error(result)) return;
  fail("NCCL failed at " + std::string(doing) + " on " + gpu_.name() + " (" + nccl_.words_of(result) +
       "): start again with NCCL_DEBUG=WARN, which prints the reason");
}

}  // namespace dragoman::internal
