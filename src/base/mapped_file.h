// Files as memory: pages are loaded when they are touched, and given back when memory is short. As with any mapping,
// truncating the file meanwhile kills this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dragoman::internal {

// Bytes that live as long as their owner.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// An Error if the path is not a regular file that can be read.
SharedBytes map_file(const std::string& path);

}  // namespace dragoman::internal
