#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/error.h"

namespace dragoman::internal {

namespace {

// A signal that arrives during a call is not an error.
template <typename Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

Descriptor::Descriptor(const std::string& path, int flags) : Descriptor(if_there(path, flags)) {
  if (!is_open()) fail("open", ENOENT);
}

Descriptor Descriptor::if_there(const std::string& path, int flags) {
  Descriptor opened;
  opened.path_ = path;
  opened.number_ = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (!opened.is_open() && errno != ENOENT) opened.fail("open");
  return opened;
}

Descriptor::~Descriptor() {
  if (is_open()) close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : path_(std::move(other.path_)), number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(number_, other.number_);
  return *this;
}

size_t Descriptor::read_some(char* to, size_t size) {
  const ssize_t n = retry([&] { return read(number_, to, size); });
  if (n < 0) fail("read");
  return static_cast<size_t>(n);
}

bool Descriptor::try_to_write_all(std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = retry([&] { return write(number_, data.data(), data.size()); });
    if (n < 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void Descriptor::write_all(std::string_view data) {
  if (!try_to_write_all(data)) fail("write");
}

void Descriptor::flush() {
  if (retry([&] { return fsync(number_); }) < 0) fail("flush");
}

bool Descriptor::try_to_lock() {
  return retry([&] { return flock(number_, LOCK_EX | LOCK_NB); }) == 0 || errno != EWOULDBLOCK;
}

void Descriptor::fail(const char* action, int reason) const {
  throw Error("cannot {} {}: {}", action, path_, std::strerror(reason));
}

}  // namespace dragoman::internal
