// The log of a memory: segments as they were added, a line each, which is a checksum and the segment as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "memory/segment.h"

namespace dragoman::internal {

class MemoryLog {
 public:
  // To append, after the first `bytes` of the file: what is behind them was cut by a kill. Created if it is not there.
  MemoryLog(std::string path, size_t bytes);

  // Returns once they are on the disk. Throws an Error if they cannot be: then none of them is in the log.
  void append(std::span<const MemorySegment> segments);

  size_t size() const { return size_; }  // in bytes

 private:
  std::string path_;
  Descriptor file_;
  size_t size_;
};

struct MemoryLogContents {
  std::vector<MemorySegment> segments;
  size_t bytes = 0;  // of their lines
};

// An Error names the line that is damaged, unless that is the last one, which a kill may have cut.
MemoryLogContents read_log(const std::string& path);

}  // namespace dragoman::internal
