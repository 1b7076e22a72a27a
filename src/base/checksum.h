// Checksums with which files show that they are damaged: 64 bits of XXH3, as 16 hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;  // of xxHash

namespace dragoman::internal {

std::string checksum_of(std::span<const std::byte> bytes);
std::string checksum_of(std::string_view text);

// The same, of bytes that come one after another.
class Checksum {
 public:
  Checksum();
  void add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  std::shared_ptr<XXH3_state_s> state_;
};

}  // namespace dragoman::internal
