#include "kernels/cuda/gpu/upload.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/gpu/gpu.h"

namespace dragoman::internal {
namespace {

constexpr size_t page_size = size_t{2} << 20, alignment = 256;

}  // namespace

// Never destroyed, as its GPU.
UploadRing::UploadRing(const Gpu& gpu) : gpu_(gpu) {
  void* data = nullptr;
  gpu.must_start(cudaHostAlloc(&data, page_size * pages_.size(), cudaHostAllocDefault));
  for (size_t i = 0; i < pages_.size(); ++i) {
    pages_[i].data = static_cast<char*>(data) + i * page_size;
    gpu.must_start(cudaEventCreateWithFlags(&pages_[i].sent, cudaEventDisableTiming));
  }
}

// A full page is marked in the stream and the next one taken, once the GPU has read it.
UploadRing::Page& UploadRing::page_with_room() {
  if (pages_[current_].used == page_size) {
    cudaEventRecord(pages_[current_].sent, gpu_.stream());
    current_ = (current_ + 1) % pages_.size();
    cudaEventSynchronize(pages_[current_].sent);  // at once, where it was never recorded
    pages_[current_].used = 0;
  }
  return pages_[current_];
}

void UploadRing::upload(void* to, const void* from, size_t bytes) {
  gpu_.use();
  for (size_t done = 0; done < bytes;) {
    const std::lock_guard lock(mutex_);  // of one piece: those of others need not wait for all
    Page& page = page_with_room();
    const size_t size = std::min(bytes - done, page_size - page.used);
    char* const staged = page.data + page.used;
    std::memcpy(staged, static_cast<const char*>(from) + done, size);
    const cudaError_t status =
        cudaMemcpyAsync(static_cast<char*>(to) + done, staged, size, cudaMemcpyHostToDevice, gpu_.stream());
    if (!is_lost(status)) gpu_.check(status, "an upload");
    page.used = std::min(page_size, (page.used + size + alignment - 1) / alignment * alignment);
    done += size;
  }
}

}  // namespace dragoman::internal
