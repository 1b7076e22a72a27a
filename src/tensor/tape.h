// Tape: what a forward pass records so that its gradients can be computed.
//
// Each op records one closure, which holds the tensors that its backward needs. backward() runs the closures in reverse
// and destroys each as soon as it has run, so that memory falls as it unwinds. Closures live in an arena that is
// reused: recording allocates nothing after the longest pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::internal {

class Tape {
 public:
  Tape() = default;
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // `parameters` are those whose gradients the closure adds to; empty handles are skipped.
  template <class Closure>
  void record(std::initializer_list<const Tensor*> parameters, Closure closure) {
    void* place = allocate(sizeof(Closure), alignof(Closure));
    new (place) Closure(std::move(closure));
    entries_.push_back({place, [](void* c) { (*static_cast<Closure*>(c))(); },
                        [](void* c) { static_cast<Closure*>(c)->~Closure(); }, writes_.size()});
    for (const Tensor* tensor : parameters) {
      if (*tensor) note_write(tensor->storage());
    }
  }

  // Runs and destroys all closures, the last first. After the last one that adds to a parameter's gradient calls
  // `ready`, if set, so that a reduction over processes can start.
  void backward();

  // Destroys all closures without running them.
  void clear();

  using Ready = void (*)(void* argument, const Storage& parameter);
  void on_gradient_ready(Ready ready, void* argument) {
    ready_ = ready;
    ready_argument_ = argument;
  }

 private:
  struct Entry {
    void* closure;
    void (*run)(void*);
    void (*destroy)(void*);
    size_t first_write;  // its parameters are writes_[first_write ...]
  };
  void* allocate(size_t size, size_t align);
  void note_write(Storage& storage);
  void pop();

  std::vector<Entry> entries_;
  std::vector<Storage*> writes_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  size_t chunk_ = 0, used_ = 0;
  Ready ready_ = nullptr;
  void* ready_argument_ = nullptr;
};

}  // namespace dragoman::internal
