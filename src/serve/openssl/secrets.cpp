#include "serve/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

unsigned char* data_of(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string random_hex(size_t bytes) {
  std::string random(bytes, '\0');
  CHECK(RAND_bytes(data_of(random), static_cast<int>(bytes)) == 1, "no random bytes");
  return in_hex(random);
}

std::string salted_hash(std::string_view salt, std::string_view key) {
  std::string text(salt), hash(EVP_MAX_MD_SIZE, '\0');
  text += key;
  unsigned size = 0;
  CHECK(EVP_Digest(text.data(), text.size(), data_of(hash), &size, EVP_sha256(), nullptr) == 1, "no SHA-256");
  hash.resize(size);
  return hash;
}

std::string in_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace dragoman::internal
