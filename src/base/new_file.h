// NewFile: a file that is written from its beginning to its end, in memory that does not grow with it.
//
// The bytes go to another name beside the path, which takes the path's place in finish(), flushed to the disk and read
// back: after a crash the path holds the old file or the whole new one. Pipes and devices are written to directly.
// Failures are an Error with the path and the system's reason.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/checksum.h"

namespace dragoman::internal {

class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();  // without finish(), what was written is removed
  NewFile(NewFile&&) noexcept = default;

  void write(std::string_view bytes);
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read_back() const;
  [[noreturn]] void fail(const char* action) const;

  std::string path_, written_;  // its name at the end, and until then
  std::unique_ptr<std::FILE, Close> file_;
  Checksum checksum_;  // of what was to be written
};

}  // namespace dragoman::internal
