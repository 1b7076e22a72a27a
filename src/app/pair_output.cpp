#include "app/pair_output.h"

#include <algorithm>
#include <iostream>

#include "app/output.h"
#include "base/files.h"

namespace dragoman::internal {

PairOutput::PairOutput(const std::string& source, const std::string& target) {
  if (source.empty() && target.empty()) return;
  for (const std::string& path : {source, target}) {
    check_writable(path);
    files_.emplace_back(path);
  }
}

void PairOutput::write(std::string_view source, std::string_view target) {
  if (!files_.empty()) {
    files_[0].add(source);
    files_[1].add(target);
    return;
  }
  line_.assign(source);
  line_ += '\n';  // a place that no side has
  line_ += target;
  std::ranges::replace(line_, '\t', ' ');
  line_[source.size()] = '\t';
  line_ += '\n';
  std::cout << line_;
  if (!std::cout) flush_output();
}

void PairOutput::finish() {
  if (files_.empty()) return flush_output();
  for (LineWriter& file : files_) file.finish();
}

}  // namespace dragoman::internal
