// PartFile: a file that is being downloaded. The partial file is PATH.part, so that an interrupted download resumes
// where it stopped, and PATH appears when it is complete. PATH.tag has the tag by which the server tells whether its
// file is still the same: an ETag or a date.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace dragoman::internal {

class PartFile {
 public:
  explicit PartFile(std::string path);

  const std::string& path() const { return path_; }
  std::string part() const { return path_ + ".part"; }
  bool is_whole() const;                   // there is a PATH
  uint64_t size() const { return size_; }  // of the part
  const std::string& tag() const { return tag_; }
  // Without a tag nothing tells whether the server still has the same file.
  bool is_resumable() const { return size_ > 0 && !tag_.empty(); }

  // From the beginning, of a file with this tag; empty: it cannot be resumed.
  void start(const std::string& tag);
  void go_on();
  // Throws an Error if the disk is full or not writable.
  void append(std::string_view data);
  void discard();
  void finish();  // the part is the complete file

 private:
  void open_part(int flags);

  std::string path_, tag_;
  uint64_t size_ = 0;
  Descriptor file_;
};

}  // namespace dragoman::internal
