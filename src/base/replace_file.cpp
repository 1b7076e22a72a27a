#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace dragoman {
namespace {

[[noreturn]] void fail(const char* action, const std::string& path) {
  throw Error("cannot {} {}: {}", action, path, std::strerror(errno));
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(std::string path, int flags)
      : path_(std::move(path)), number_(open(path_.c_str(), flags, 0666)) {
    if (number_ < 0) fail("open", path_);
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write_all(std::string_view data) {
    while (!data.empty()) {
      const ssize_t n = write(number_, data.data(), data.size());
      if (n < 0 && errno != EINTR) fail("write", path_);  // a signal that arrives in a call is no error
      if (n > 0) data.remove_prefix(static_cast<size_t>(n));
    }
  }

  void flush() {
    while (fsync(number_) != 0) {
      if (errno != EINTR) fail("flush", path_);
    }
  }

 private:
  std::string path_;
  int number_;
};

}  // namespace

void replace_file(const std::string& path, std::span<const std::string_view> parts) {
  const std::string temporary = path + ".new";
  try {
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    for (const std::string_view part : parts) file.write_all(part);
    file.flush();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail("write", path);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  // The new name is to be on the disk too.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC).flush();
}

}  // namespace dragoman
