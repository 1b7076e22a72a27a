#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace dragoman::internal {
namespace {

// The number after a name in a file of lines "NAME NUMBER ...", or a default.
int64_t number_after(const std::string& path, const std::string& name, int64_t otherwise) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtoll(line.c_str() + name.size(), nullptr, 10);
  }
  return otherwise;
}

// A file with one number; "max" and a missing file mean no limit.
int64_t number_in(const std::string& path) {
  int64_t number = 0;
  return std::ifstream(path) >> number ? number : std::numeric_limits<int64_t>::max();
}

// What a control group has left. The system frees its cached files when memory is needed.
int64_t left_in(const std::string& group, bool unified) {
  const int64_t limit = number_in(group + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
  if (limit == std::numeric_limits<int64_t>::max()) return limit;
  const int64_t used = number_in(group + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
  const int64_t kept_files = number_after(group + "/memory.stat", "inactive_file ", 0);
  return std::max<int64_t>(0, limit - std::min(used - std::min(used, kept_files), limit));
}

}  // namespace

int64_t available_memory(const std::string& root) {
  constexpr int64_t unknown = int64_t{4} << 30;
  const int64_t kilobytes = number_after(root + "/proc/meminfo", "MemAvailable:", -1);
  int64_t available = kilobytes < 0 ? unknown : kilobytes * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/path", or "0::/path" of version 2
    const size_t name = line.find(':') + 1, path = line.find(':', name) + 1;
    const std::string controllers = line.substr(name, path - 1 - name);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == controllers.npos) continue;
    const std::string all = root + "/sys/fs/cgroup" + (unified ? "" : "/memory");
    for (std::string group = line.substr(path);;
         group.erase(group.rfind('/'))) {  // its parents limit it, too
      available = std::min(available, left_in(all + group, unified));
      if (group.find('/') == group.npos) break;
    }
  }
  return available;
}

int64_t peak_memory() { return 1024 * number_after("/proc/self/status", "VmHWM:", 0); }

void forget_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace dragoman::internal
