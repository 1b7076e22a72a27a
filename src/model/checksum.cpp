#include "model/checksum.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/checksum.h"
#include "base/files.h"
#include "base/mapped_file.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

std::string file_checksum(const std::string& path) { return checksum_of(map_file(path).bytes); }

std::string model_checksum(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& path : entries_of(folder)) {
    const std::string name = fs::path(path).filename().string();
    const bool is_history = name == "metrics.jsonl" || name.starts_with("events.") || name.starts_with('.');
    if (fs::is_regular_file(path) && !is_history) files.push_back(path);
  }
  std::ranges::sort(files);
  std::string all;
  for (const std::string& path : files)
    all += fs::path(path).filename().string() + " " + file_checksum(path) + "\n";
  return checksum_of(all);
}

}  // namespace dragoman::internal
