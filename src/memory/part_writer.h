// Writes a part of a memory (part_format.h) from segments that come one after another.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "memory/part_format.h"
#include "memory/segment.h"

namespace dragoman::internal {

class PartWriter {
 public:
  // `write` gets the part's bytes in their order. The texts are passed on at once; the rest takes some 200 bytes a
  // segment until finish().
  explicit PartWriter(std::function<void(std::string_view bytes)> write) : write_(std::move(write)) {}

  void add(const MemorySegmentView& segment);
  void finish();

  uint32_t size() const { return static_cast<uint32_t>(begins_.size()); }
  // A part that has so much is to be finished: what it takes of the machine's memory is bounded.
  bool is_full() const { return size() >= max_segments || places_.size() >= max_places; }

 private:
  static constexpr uint32_t max_segments = 1'000'000;
  static constexpr size_t max_places = 12'000'000;

  struct Place {
    uint64_t word;
    uint32_t segment;
  };
  struct Key {
    uint64_t number;
    uint32_t segment;
  };

  void put(std::string_view bytes);
  template <class T>
  void put_section(PartSection section, const std::vector<T>& values);
  void begin(PartSection section);
  void put_keys();
  void put_words();

  std::function<void(std::string_view)> write_;
  uint64_t written_ = 0;
  Checksum checksum_;
  PartFooter footer_;
  std::vector<uint64_t> begins_;
  std::vector<uint8_t> lengths_;
  std::vector<Key> keys_;
  std::deque<Place> places_;  // which needs no copy to grow
};

}  // namespace dragoman::internal
