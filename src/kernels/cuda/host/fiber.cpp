#include "kernels/cuda/host/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include <boost/context/detail/fcontext.hpp>

#if defined(DRAGOMAN_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace dragoman::internal::on_host {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr size_t page = 4096;
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
constexpr size_t stack_bytes = 256 << 10;  // its frames are larger
#else
constexpr size_t stack_bytes = 64 << 10;
#endif
// The guard, the stack, and a page for its top to move in.
constexpr size_t memory_bytes = page + stack_bytes + page;

}  // namespace

// What both ends of a switch do.
struct Fiber::Switch {
  static void leave([[maybe_unused]] Fiber& from, [[maybe_unused]] const Fiber& to) {
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
#endif
  }

  static Fiber& arrive(transfer_t from, [[maybe_unused]] void* fake_stack) {
    auto& before = *static_cast<Fiber*>(from.data);
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake_stack, &before.bottom_, &before.size_);
#endif
    before.context_ = from.fctx;
    return before;
  }

  static void enter(transfer_t from) { arrive(from, nullptr).next_->body_(); }
};

Fiber::Fiber(int number, void (*body)()) : body_(body) {
  memory_ =
      mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory_, page, PROT_NONE);
  bottom_ = static_cast<unsigned char*>(memory_) + page;
  const auto lines = static_cast<size_t>(number) * 9 % 64;
  size_ = stack_bytes + page - 64 * lines;
  restart();
}

Fiber::~Fiber() {
  if (memory_ == nullptr) return;
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(bottom_, size_);
#endif
  munmap(memory_, memory_bytes);
}

void Fiber::restart() {
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(bottom_, size_);  // of frames that never returned
#endif
  fake_stack_ = nullptr;
  context_ = make_fcontext(static_cast<unsigned char*>(memory_) + page + size_, size_, Switch::enter);
}

void Fiber::switch_to(Fiber& other) {
  next_ = &other;
  Switch::leave(*this, other);
  Switch::arrive(jump_fcontext(other.context_, this), fake_stack_);
}

}  // namespace dragoman::internal::on_host
