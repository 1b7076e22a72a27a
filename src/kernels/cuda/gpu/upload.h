// Uploads through pinned memory: the bytes are copied there at once and go to the GPU in the stream's order, so that
// the caller waits for the GPU only where all of the ring is on its way.
#pragma once

#include <array>
#include <mutex>

#include <cuda_runtime_api.h>

namespace dragoman::internal {

class Gpu;

class UploadRing {
 public:
  explicit UploadRing(const Gpu& gpu);

  // May be called by several threads. What a lost GPU answers is left to the next wait for it, since a view that ends
  // uploads in its destructor.
  void upload(void* to, const void* from, size_t bytes);

 private:
  struct Page {
    char* data;
    size_t used;
    cudaEvent_t sent;  // recorded when the page is full
  };

  Page& page_with_room();

  const Gpu& gpu_;
  std::mutex mutex_;
  std::array<Page, 8> pages_ = {};
  size_t current_ = 0;
};

}  // namespace dragoman::internal
