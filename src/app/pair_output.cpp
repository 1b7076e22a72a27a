#include "app/pair_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "app/output.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {

PairOutput::PairOutput(const std::string& source, const std::string& target) {
  if (source.empty() && target.empty()) return;
  for (const std::string& path : {source, target}) {
    check_writable(path);
    std::error_code none;
    const bool direct = std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none);
    files_.push_back({.path = path, .written = direct ? path : path + ".part"});
  }
  for (File& file : files_) {
    file.stream.open(file.written, std::ios::binary);
    file.check();
  }
}

PairOutput::~PairOutput() {
  std::error_code none;
  for (const File& file : files_)
    if (file.written != file.path) std::filesystem::remove(file.written, none);
}

void PairOutput::write(std::string_view source, std::string_view target) {
  if (!files_.empty()) {
    files_[0].write(source);
    files_[1].write(target);
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
  for (File& file : files_) {
    file.stream.close();
    file.check();
  }
  for (File& file : files_)
    if (file.written != file.path) std::filesystem::rename(file.written, file.path);
  files_.clear();
}

void PairOutput::File::write(std::string_view line) {
  stream << line << '\n';
  check();
}

void PairOutput::File::check() const {
  if (!stream) throw Error("cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace dragoman::internal
