#include "kernels/context.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/threads.h"

namespace dragoman::internal {
namespace {

// A block of memory that only grows. A large one lies in huge pages: small ones, scattered as the system finds them,
// would put each other out of the cache.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr; }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() { std::free(data_); }

  void* get(size_t bytes) {
    if (bytes > size_) {
      std::free(data_);
      const size_t page = bytes < small_pages ? 4096 : huge_page;
      size_ = (bytes + page - 1) / page * page;
      data_ = std::aligned_alloc(page, size_);
      if (data_ == nullptr) {
        size_ = 0;
        throw std::bad_alloc();
      }
      if (page == huge_page) madvise(data_, size_, MADV_HUGEPAGE);
    }
    return data_;
  }

 private:
  static constexpr size_t huge_page = size_t{2} << 20, small_pages = size_t{128} << 10;

  void* data_ = nullptr;
  size_t size_ = 0;
};

// Each worker's on cache lines of its own.
struct alignas(128) LocalScratch {
  Scratch scratch;
};

}  // namespace

struct CpuContext::State {
  explicit State(int threads) : pool(threads), locals(static_cast<size_t>(pool.size())) {}

  // Gives every worker as much as any has asked for: else one that had no task of the largest batch would request
  // memory from the system much later.
  void level_locals() {
    const size_t wanted = largest_local.load(std::memory_order_relaxed);
    if (wanted == level) return;
    for (LocalScratch& local : locals) local.scratch.get(wanted);
    level = wanted;
  }

  ThreadPool pool;
  Scratch shared;
  std::vector<LocalScratch> locals;
  std::atomic<size_t> largest_local{0};  // bytes that any worker has asked for
  size_t level = 0;                      // bytes that all workers have
};

Context::~Context() = default;

CpuContext::CpuContext(int threads) : state_(new State(threads)) {}
CpuContext::~CpuContext() { delete state_; }

int CpuContext::threads() const { return state_->pool.size(); }
void CpuContext::limit_threads(int threads) {
  state_->pool.limit_threads(std::min(threads, state_->pool.size()));
}

Context* CpuContext::clone(int threads) const { return new CpuContext(threads); }
Context* new_cpu_context(int threads) { return new CpuContext(threads); }

void CpuContext::parallel(int64_t count, void (*body)(void*, int64_t, int), void* argument) {
  state_->level_locals();
  state_->pool.run(count, body, argument);
}

void* CpuContext::shared(size_t bytes) { return state_->shared.get(bytes); }

void* CpuContext::local(int worker, size_t bytes) {
  size_t largest = state_->largest_local.load(std::memory_order_relaxed);
  while (bytes > largest && !state_->largest_local.compare_exchange_weak(largest, bytes)) {}
  return state_->locals[static_cast<size_t>(worker)].scratch.get(bytes);
}

}  // namespace dragoman::internal
