// A block's shared memory and who touched it: finds accesses of two threads that no barrier separates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragoman::internal::on_host {

// A thread of a block, and since when it and its warp have been where no barrier was: a clock ticks at every barrier.
struct Accessor {
  int thread;
  uint32_t warp_time;   // of the last barrier of its warp, or of its block
  uint32_t block_time;  // of the last barrier of its block
  uint32_t start_time;  // of the block's start
};

class SharedMemory {
 public:
  static constexpr size_t most_bytes = 48 << 10;
  static constexpr int nobody = -1, unwritten = -2;

  void resize(size_t bytes);

  bool contains(int64_t offset, int64_t bytes) const {
    return offset >= 0 && bytes <= size_ && offset <= size_ - bytes;
  }
  int64_t size() const { return size_; }
  unsigned char* at(int64_t offset) { return bytes_.data() + offset; }

  // Notes that a thread reads or writes a word of 4 bytes. Returns another thread that touched it and may not have, or
  // nobody; or, of a read, unwritten.
  int read(int64_t word, const Accessor&);
  int write(int64_t word, const Accessor&);

 private:
  static constexpr uint16_t none = 0xffff;

  // Of two readers, the second is of another warp than the first, if there was any.
  struct Word {
    uint32_t written = 0, read = 0;  // the last time of the writer's warp, of the reader's
    uint16_t writer = none, reader = none, second_reader = none;
  };

  static bool conflicts(uint16_t other, uint32_t time, const Accessor&);

  std::vector<unsigned char> bytes_;
  std::vector<Word> words_;
  int64_t size_ = 0;
};

}  // namespace dragoman::internal::on_host
