#include "hub/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

PartFile::PartFile(std::string path) : path_(std::move(path)) {
  std::error_code none;
  if (fs::exists(path_ + ".tag", none)) tag_ = read_file(path_ + ".tag");
  if (fs::exists(part(), none)) size_ = fs::file_size(part());
  if (tag_.empty()) discard();
}

PartFile::~PartFile() { close_part(); }

bool PartFile::is_whole() const { return !tag_.empty() && fs::is_regular_file(path_); }

void PartFile::fail(const char* action) const {
  throw Error("cannot {} {}: {}", action, part(), std::strerror(errno));
}

void PartFile::open_part(int flags) {
  close_part();
  file_ = open(part().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file_ < 0) fail("open");
}

void PartFile::close_part() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

// The old tag is removed first and the new one written last: a part never has the tag of another file.
void PartFile::start(const std::string& tag) {
  std::remove((path_ + ".tag").c_str());
  std::remove(path_.c_str());
  open_part(O_TRUNC);
  size_ = 0;
  tag_ = tag;
  if (!tag.empty()) write_file(path_ + ".tag", {tag});
}

void PartFile::go_on() { open_part(O_APPEND); }

void PartFile::append(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = write(file_, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    data.remove_prefix(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
}

void PartFile::discard() {
  close_part();
  for (const std::string& file : {path_ + ".tag", part(), path_}) std::remove(file.c_str());
  tag_.clear();
  size_ = 0;
}

void PartFile::finish() {
  if (file_ < 0) open_part(0);  // an empty file
  if (fsync(file_) != 0) fail("flush");
  close_part();
  if (std::rename(part().c_str(), path_.c_str()) != 0) fail("rename");
}

}  // namespace dragoman::internal
