// LineWriter: a text file written line by line, in memory that does not grow with it.
//
// The lines go to another name beside the path, which takes the path's place in finish(), flushed to the disk: after a
// crash the path holds the old file or the whole new one. Failures are an Error with the path and the system's reason.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman::internal {

class LineWriter {
 public:
  explicit LineWriter(const std::string& path);
  ~LineWriter();  // without finish(), the new file is removed
  LineWriter(LineWriter&&) noexcept = default;

  void add(std::string_view line);  // without its line end
  void finish();

  int64_t lines() const { return lines_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void fail(const char* action) const;

  std::string path_, temporary_;
  std::unique_ptr<std::FILE, Close> file_;
  int64_t lines_ = 0;
};

}  // namespace dragoman::internal
