#include "serve/libretranslate/suggestions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw Error("{}: suggestions cannot be written: {}", path, std::strerror(errno));
  }
  ~AppendedFile() { close(file_); }
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  size_t size() const {
    struct stat info = {};
    return fstat(file_, &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
  }

  // By one call, which the system does not mix with another's. Of a line that does not fit nothing is left, so that the
  // next one begins a line.
  void append(const std::string& line) const {
    const ssize_t written = write(file_, line.data(), line.size());
    int reason = written < 0 ? errno : ENOSPC;
    if (written == static_cast<ssize_t>(line.size())) {
      if (fdatasync(file_) == 0 || errno == EINVAL) return;  // EINVAL: a pipe or a device
      reason = errno;
    } else if (written > 0) {
      static_cast<void>(ftruncate(file_, lseek(file_, 0, SEEK_CUR) - written));
    }
    throw Error("{}: a suggestion cannot be written: {}", path_, std::strerror(reason));
  }

 private:
  const std::string& path_;
  const int file_;
};

}  // namespace

Suggestions::Suggestions(std::string path, size_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {
  if (on()) AppendedFile file(path_);
}

void Suggestions::add(const Suggestion& suggestion) {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const nlohmann::ordered_json line = {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
                                       {"source", suggestion.source},
                                       {"target", suggestion.target},
                                       {"q", suggestion.text},
                                       {"s", suggestion.translation}};
  const std::string bytes = json_text(line) + "\n";
  const std::lock_guard lock(mutex_);
  const AppendedFile file(path_);
  if (file.size() + bytes.size() > max_bytes_)
    throw Error("{}: the suggestions file has reached its size limit: move it away", path_);
  file.append(bytes);
}

}  // namespace dragoman::internal
