// Checksums with which files show that they are damaged: 64 bits of XXH3, as 16 hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;  // of xxHash

namespace dragoman::internal {

std::string checksum_of(std::span<const std::byte> bytes);
std::string checksum_of(std::string_view text);
uint64_t hash_of(std::string_view text);  // the same number, for tables

// The same, of bytes that come one after another.
class Checksum {
 public:
  Checksum();
  void add(std::span<const std::byte> bytes);
  std::string text() const;
  uint64_t number() const;

 private:
  std::shared_ptr<XXH3_state_s> state_;
};

}  // namespace dragoman::internal
