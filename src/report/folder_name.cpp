#include "report/folder_name.h"

#include <algorithm>
#include <filesystem>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// "." is called as the folder that it is.
std::string whole_path(const std::string& folder) {
  const std::string path = std::filesystem::absolute(folder).lexically_normal().string();
  return path.substr(0, path.find_last_not_of('/') + 1);
}

std::string last_parts(const std::string& path, int count) {
  size_t at = path.size();
  while (count-- > 0 && at != path.npos && at > 0) at = path.rfind('/', at - 1);
  return at == path.npos || at == 0 ? path : path.substr(at + 1);
}

}  // namespace

std::string folder_name(const std::string& folder, const std::vector<std::string>& folders) {
  const std::string path = whole_path(folder);
  for (int count = 1;; ++count) {
    const std::string name = last_parts(path, count);
    const auto is_alike = [&](const std::string& other) {
      return last_parts(whole_path(other), count) == name;
    };
    if (name == path || std::ranges::count_if(folders, is_alike) <= 1) return repaired(name);
  }
}

}  // namespace dragoman::internal
