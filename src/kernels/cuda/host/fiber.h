// A stack that a thread of the host can go on with, and come back from, in a few nanoseconds.
#pragma once

#include <cstddef>

namespace dragoman::internal::on_host {

class Fiber {
 public:
  Fiber() = default;  // the stack that the thread of the host has already

  // The first switch to it calls body, which must not return. `number` spreads the tops of the stacks over the sets of
  // the caches: they would else put one another out.
  Fiber(int number, void (*body)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Abandons what runs on it: no destructors are called, and the next switch to it calls body again.
  void restart();

  // From this one, which must be the one that runs. Returns when another switches here.
  void switch_to(Fiber& other);

 private:
  struct Switch;

  void (*body_)() = nullptr;
  Fiber* next_ = nullptr;    // where it went last
  void* context_ = nullptr;  // where it goes on
  void* memory_ = nullptr;   // with a page that cannot be touched at its low end
  const void* bottom_ = nullptr;
  size_t size_ = 0;
  void* fake_stack_ = nullptr;  // the address sanitizer's
};

}  // namespace dragoman::internal::on_host
