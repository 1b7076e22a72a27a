// Where parallel text goes: to two files, line by line, or to standard output as source, tab, target.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/line_writer.h"

namespace dragoman::internal {

class PairOutput {
 public:
  // Both files (base/new_file.h), or neither: then standard output.
  PairOutput(const std::string& source, const std::string& target);

  // On standard output a tab in the text becomes a space.
  void write(std::string_view source, std::string_view target);
  void finish();

 private:
  std::vector<LineWriter> files_;  // two, or none
  std::string line_;
};

}  // namespace dragoman::internal
