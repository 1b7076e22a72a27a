// ScratchFolder: a folder among the system's temporary files, which goes with all that is in it.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace dragoman::internal {

class ScratchFolder {
 public:
  // `use`: a part of its name. Throws an Error where it cannot be created.
  explicit ScratchFolder(const std::string& use)
      : path_((std::filesystem::temp_directory_path() / ("dragoman-" + use + "-XXXXXX")).string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw Error("cannot create the folder {}: {}", path_, std::strerror(errno));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dragoman::internal
