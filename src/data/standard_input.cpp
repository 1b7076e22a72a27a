#include "data/standard_input.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

constexpr const char* standard_input = "-";

// Decompresses it if necessary.
void copy_standard_input(const std::string& path) {
  const auto bytes = open_bytes(standard_input);
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<char> block(1 << 16);
  while (const size_t count = bytes->read(block.data(), block.size())) {
    if (stop_requested()) throw Stopped(stop_requested(), "stopped while reading standard input");
    file.write_all({block.data(), count});
  }
}

}  // namespace

bool reads_standard_input(const DataConfig& data) {
  const auto names_it = [](const std::vector<std::string>& files) {
    return std::ranges::count(files, standard_input) > 0;
  };
  return names_it(data.source) || names_it(data.target) || names_it(data.tsv) || names_it(data.text);
}

CorpusOfFiles::CorpusOfFiles(const DataConfig& data, const std::string& folder)
    : data_(data), path_((std::filesystem::path(folder) / "standard-input").string()) {
  if (!reads_standard_input(data)) return;
  try {
    copy_standard_input(path_);
  } catch (const Stopped&) {
    throw;
  } catch (const Error& error) {
    throw Error("standard input: {}", error.what());
  }
  for (auto* files : {&data_.source, &data_.target, &data_.tsv, &data_.text})
    std::ranges::replace(*files, standard_input, path_);
}

CorpusOfFiles::~CorpusOfFiles() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace dragoman::internal
