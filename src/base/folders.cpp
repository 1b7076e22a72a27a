#include "base/folders.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace dragoman::internal {

// Not a loop over the iterator itself, whose errors lack the path.
std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    entries.push_back(entry->path().string());
  if (error) throw Error("cannot read the folder {}: {}", folder, error.message());
  return entries;
}

}  // namespace dragoman::internal
