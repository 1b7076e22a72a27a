// LineWriter: a text file written line by line, as NewFile writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/new_file.h"

namespace dragoman::internal {

class LineWriter {
 public:
  explicit LineWriter(const std::string& path) : file_(path) {}

  void add(std::string_view line) {  // without its line end
    file_.write(line);
    file_.write("\n");
    ++lines_;
  }
  void finish() { file_.finish(); }

  int64_t lines() const { return lines_; }

 private:
  NewFile file_;
  int64_t lines_ = 0;
};

}  // namespace dragoman::internal
