#include "base/new_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/replacement.h"

namespace dragoman::internal {

namespace {

bool is_written_directly(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none);
}

}  // namespace

NewFile::NewFile(const std::string& path)
    : path_(behind_links(path)),
      written_(is_written_directly(path_) ? path_ : replacement_name(path_)),
      file_(std::fopen(written_.c_str(), "wbe")) {
  if (!file_) fail("open");
  if (written_ != path_) keep_permissions(path_, fileno(file_.get()));
}

NewFile::~NewFile() {
  if (!file_) return;
  file_.reset();
  if (written_ != path_) unlink(written_.c_str());
}

void NewFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail("write");
  checksum_.add(std::as_bytes(std::span(bytes)));
}

void NewFile::finish() {
  if (std::fflush(file_.get()) != 0) fail("write");
  if (written_ != path_) {
    if (fsync(fileno(file_.get())) != 0) fail("write");
    read_back();
    if (std::rename(written_.c_str(), path_.c_str()) != 0) fail("rename");
  }
  file_.reset();
}

// Disks and network file systems have lost writes that they reported as done.
void NewFile::read_back() const {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(written_.c_str(), "rbe"));
  if (!file) fail("read");
  Checksum read;
  std::vector<std::byte> buffer(1 << 16);
  while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    read.add(std::span(buffer).first(size));
  if (std::ferror(file.get()) != 0) fail("read");
  if (read.number() != checksum_.number())
    throw Error("{} reads back differently from what was written: check the disk", path_);
}

void NewFile::fail(const char* action) const {
  throw Error("cannot {} {}: {}", action, path_, std::strerror(errno));
}

}  // namespace dragoman::internal
