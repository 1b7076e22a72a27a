// Segments as TMX 1.4b, which every translator's program reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "memory/segment.h"

namespace dragoman::internal {

class TmxWriter {
 public:
  // `write` gets the file's bytes in their order.
  TmxWriter(const std::string& from, const std::string& to,
            std::function<void(std::string_view bytes)> write);

  void add(const MemorySegmentView& segment);
  void finish();

 private:
  std::string from_, to_;
  std::function<void(std::string_view)> write_;
};

}  // namespace dragoman::internal
