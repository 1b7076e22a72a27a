#include "tensor/tape.h"

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr size_t chunk_size = 64 * 1024;

}  // namespace

void Tape::backward() {
  while (!entries_.empty()) {
    entries_.back().run(entries_.back().closure);
    const size_t first_write = entries_.back().first_write;
    for (size_t i = first_write; ready_ != nullptr && i < writes_.size(); ++i) {
      if (writes_[i]->pending == 1) ready_(ready_argument_, *writes_[i]);
    }
    pop();
  }
  chunk_ = used_ = 0;
}

void Tape::clear() {
  while (!entries_.empty()) pop();
  chunk_ = used_ = 0;
}

// Destroys the last closure.
void Tape::pop() {
  const Entry entry = entries_.back();
  entries_.pop_back();
  for (size_t i = entry.first_write; i < writes_.size(); ++i) --writes_[i]->pending;
  writes_.resize(entry.first_write);
  entry.destroy(entry.closure);
}

void Tape::note_write(Storage& storage) {
  ++storage.pending;
  writes_.push_back(&storage);
}

void* Tape::allocate(size_t size, size_t align) {
  CHECK(size <= chunk_size && align <= alignof(std::max_align_t), "a closure of {} bytes", size);
  used_ = (used_ + align - 1) / align * align;
  if (chunk_ < chunks_.size() && used_ + size > chunk_size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<std::byte[]>(chunk_size));
  void* place = chunks_[chunk_].get() + used_;
  used_ += size;
  return place;
}

}  // namespace dragoman::internal
