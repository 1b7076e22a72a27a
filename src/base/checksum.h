// Checksums with which files show that they are damaged: 64 bits of XXH3, as 16 hexadecimal digits.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::internal {

std::string checksum_of(std::span<const std::byte> bytes);
std::string checksum_of(std::string_view text);

}  // namespace dragoman::internal
