// Files that may be compressed with gzip, as Firefox's models are.
#pragma once

#include <cstdint>
#include <string>

#include "base/mapped_file.h"

namespace dragoman::internal {

// The file's contents: mapped, or decompressed into memory. An Error if a compressed file decompresses to more than
// `limit` bytes: some kilobytes can hold gigabytes.
SharedBytes open_packed(const std::string& path, uint64_t limit);

// The same as a string.
std::string read_packed(const std::string& path, uint64_t limit);

// Its first bytes; fewer if it has fewer, or is damaged.
std::string beginning_of(const std::string& path, size_t size);

}  // namespace dragoman::internal
