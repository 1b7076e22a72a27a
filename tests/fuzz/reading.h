// What the targets share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"

namespace dragoman::internal {

using Seeds = std::vector<std::string>;

inline const std::filesystem::path source_folder = DRAGOMAN_SOURCE_DIR;

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Why `read` refused; empty if it did not.
template <class Function>
std::string refusal(Function&& read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace dragoman::internal
