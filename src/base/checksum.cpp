#include "base/checksum.h"

#include <xxhash.h>

#include <fmt/format.h>

namespace dragoman::internal {

std::string checksum_of(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string checksum_of(std::string_view text) { return checksum_of(std::as_bytes(std::span(text))); }

}  // namespace dragoman::internal
