// The folders that a server is given: "en-fr=models/en-fr", or without a name.
#pragma once

#include <string>

#include "base/files.h"

namespace dragoman::internal {

struct NamedFolder {
  std::string name, folder;  // no name: empty
};

// A folder's own name may have an equals sign behind a slash.
inline NamedFolder named_folder(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == argument.npos || argument.find('/') < equals) return {"", argument};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// "en-fr" for "models/en-fr/".
inline std::string last_part(const std::string& path) {
  const std::string folder = without_final_slashes(path);
  return folder.substr(folder.rfind('/') + 1);
}

}  // namespace dragoman::internal
