#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman::internal {

SharedBytes map_file(const std::string& path) {
  const auto fail = [&](const char* action) {
    throw Error("cannot {} {}: {}", action, path, std::strerror(errno));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail("open");
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file,
                                                                [](const int* number) { close(*number); });
  struct stat status;
  if (fstat(file, &status) != 0) fail("read");
  if (!S_ISREG(status.st_mode)) throw Error("{} is not a regular file", path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {};
  void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) fail("map");
  return {.bytes = {static_cast<const std::byte*>(bytes), size},
          .owner = {bytes, [size](void* data) { munmap(data, size); }}};
}

}  // namespace dragoman::internal
