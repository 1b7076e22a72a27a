// A zip archive's files in a temporary folder, for readers that want a folder.
//
// An archive from anywhere may be unpacked: names that lead out of the folder are refused, links become files, and
// sizes are limited before anything is written.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/scratch_folder.h"

namespace dragoman::internal {

class UnpackedArchive {
 public:
  // Unpacks the files that are wanted by their names in the archive. A signal that asks to stop ends it: Stopped is
  // thrown.
  UnpackedArchive(const std::string& path, const std::function<bool(std::string_view name)>& wanted);

  const std::string& folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
};

// Whether the path is a file that begins as zip archives do.
bool is_zip_file(const std::string& path);

}  // namespace dragoman::internal
