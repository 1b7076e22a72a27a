#include "hub/sha256.h"

#include <array>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"
#include "base/signals.h"

namespace dragoman::internal {

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (file) {
    if (stop_requested()) throw Stopped(stop_requested(), "stopped");
    file.read(block.data(), std::ssize(block));
    EVP_DigestUpdate(digest.get(), block.data(), static_cast<size_t>(file.gcount()));
  }
  if (!file.eof()) throw Error("cannot read {}", path);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int count = 0;
  EVP_DigestFinal_ex(digest.get(), bytes.data(), &count);
  std::string text;
  for (unsigned int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace dragoman::internal
