#include "kernels/cuda/host/shared_memory.h"

namespace dragoman::internal::on_host {
namespace {

bool same_warp(int a, int b) { return a / 32 == b / 32; }

}  // namespace

void SharedMemory::resize(size_t bytes) {
  if (bytes > bytes_.size()) {
    bytes_.resize(bytes);
    words_.resize((bytes + 3) / 4);
  }
  size_ = static_cast<int64_t>(bytes);
}

// Whether no barrier lies between the other thread's access and this one.
bool SharedMemory::conflicts(uint16_t other, uint32_t time, const Accessor& by) {
  if (time < by.block_time || other == by.thread || other == none) return false;
  return !same_warp(other, by.thread) || time == by.warp_time;
}

int SharedMemory::read(int64_t index, const Accessor& by) {
  Word& word = words_[static_cast<size_t>(index)];
  if (word.written < by.start_time) return unwritten;
  if (conflicts(word.writer, word.written, by)) return word.writer;
  const auto thread = static_cast<uint16_t>(by.thread);
  if (word.read < by.block_time) {
    word.read = by.warp_time, word.reader = thread, word.second_reader = none;
  } else if (!same_warp(word.reader, thread)) {
    word.second_reader = thread;
  } else if (word.second_reader != none && !same_warp(word.second_reader, thread)) {
    // A write by any thread is found already.
  } else if (word.read != by.warp_time) {
    word.read = by.warp_time, word.reader = thread, word.second_reader = none;
  } else if (word.reader != thread) {
    word.second_reader = thread;
  }
  return nobody;
}

int SharedMemory::write(int64_t index, const Accessor& by) {
  Word& word = words_[static_cast<size_t>(index)];
  if (conflicts(word.writer, word.written, by)) return word.writer;
  if (conflicts(word.reader, word.read, by)) return word.reader;
  if (conflicts(word.second_reader, word.read, by)) return word.second_reader;
  word.written = by.warp_time, word.writer = static_cast<uint16_t>(by.thread);
  return nobody;
}

}  // namespace dragoman::internal::on_host
