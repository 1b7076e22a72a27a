// The folder in which a model's files arrive: below $XDG_CACHE_HOME/dragoman, or ~/.cache/dragoman. They are there only
// until the model is imported, or, after a failure, until the same command resumes; or for good, if a user keeps them.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace dragoman::internal {

std::string cache_folder();

// A folder in it, for one process at a time.
class DownloadFolder {
 public:
  // Throws an Error if another process uses it.
  explicit DownloadFolder(const std::string& path);

  const std::string& path() const { return path_; }
  // From now on for every process.
  void keep();
  // Whether it is gone.
  bool remove_unless_kept();

 private:
  std::string path_;
  Descriptor lock_;
};

}  // namespace dragoman::internal
