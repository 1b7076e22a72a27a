// Random names and keys, and hashes of keys. By OpenSSL, which servers need (openssl/).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman::internal {

// From the system's source of secrets, as hexadecimal digits, two a byte.
std::string random_hex(size_t bytes);

// SHA-256 of both together: 32 bytes.
std::string salted_hash(std::string_view salt, std::string_view key);

std::string in_hex(std::string_view bytes);

// In a time that depends only on the lengths.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace dragoman::internal
