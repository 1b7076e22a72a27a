// MemoryBuilder: a new memory, from segments that come one after another. The folder takes its name when it is whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/atomic_folder.h"
#include "memory/lock.h"
#include "memory/manifest.h"
#include "memory/segment.h"

namespace dragoman::internal {

class MemoryBuilder {
 public:
  // Replaces only an empty folder, or a memory to which no process adds, even a damaged one.
  MemoryBuilder(const std::string& folder, const std::string& from, const std::string& to);
  ~MemoryBuilder();

  void add(const MemorySegmentView& segment);
  void finish();

  int64_t added() const { return added_; }

 private:
  struct OpenPart;

  void finish_part();

  std::unique_ptr<MemoryLock> former_;  // keeps others from adding to what is being replaced
  AtomicFolder folder_;
  MemoryManifest manifest_;
  std::unique_ptr<OpenPart> part_;
  int64_t added_ = 0;
};

}  // namespace dragoman::internal
