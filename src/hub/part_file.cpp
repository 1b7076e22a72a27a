#include "hub/part_file.h"

#include <fcntl.h>

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

bool PartFile::is_whole() const { return !tag_.empty() && fs::is_regular_file(path_); }

void PartFile::open_part(int flags) { file_ = Descriptor(part(), O_WRONLY | O_CREAT | flags); }

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
  file_.write_all(data);
  size_ += data.size();
}

void PartFile::discard() {
  file_ = {};
  for (const std::string& file : {path_ + ".tag", part(), path_}) std::remove(file.c_str());
  tag_.clear();
  size_ = 0;
}

void PartFile::finish() {
  if (!file_.is_open()) open_part(0);  // an empty file
  file_.flush();
  file_ = {};
  if (std::rename(part().c_str(), path_.c_str()) != 0)
    throw Error("cannot rename {}: {}", part(), std::strerror(errno));
}

}  // namespace dragoman::internal
