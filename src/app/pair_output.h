// Where parallel text goes: to two files, line by line, or to standard output as source, tab, target.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

class PairOutput {
 public:
  // Both files, or neither: then standard output. A file gets its name when it is whole: until finish() it has .part
  // behind it. Pipes and devices are written to directly.
  PairOutput(const std::string& source, const std::string& target);
  ~PairOutput();  // removes unfinished files
  PairOutput(const PairOutput&) = delete;
  PairOutput& operator=(const PairOutput&) = delete;

  // On standard output a tab in the text becomes a space.
  void write(std::string_view source, std::string_view target);
  void finish();

 private:
  struct File {
    std::string path, written;  // its name at the end, and until then
    std::ofstream stream = {};

    void write(std::string_view line);
    void check() const;
  };

  std::vector<File> files_;  // two, or none
  std::string line_;
};

}  // namespace dragoman::internal
