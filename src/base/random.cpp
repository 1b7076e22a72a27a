#include "base/random.h"

#include <cmath>

namespace dragoman::internal {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint64_t mix(uint64_t a, uint64_t b) {
  const auto words = philox({static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32),
                             static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)},
                            {0x6D697865, 0x72});
  return words[0] | uint64_t{words[1]} << 32;
}

uint64_t mix(uint64_t a, std::string_view text) {
  uint64_t hash = mix(a, text.size());
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

uint32_t Random::word() {
  const uint64_t block = drawn_ / 4;
  if (drawn_ % 4 == 0)
    words_ = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}, key_);
  return words_[drawn_++ % 4];
}

double Random::uniform() {
  const uint64_t high = word();
  return static_cast<double>((high << 32 | word()) >> 11) * 0x1p-53;
}

double Random::normal() {  // Box and Muller's, of which one of the pair is used
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * M_PI * uniform());
}

uint64_t Random::below(uint64_t bound) {
  const uint64_t reject = (0 - bound) % bound;  // 2^64 mod bound
  for (;;) {
    const uint64_t high = word();
    const uint64_t value = high << 32 | word();
    if (value >= reject) return value % bound;
  }
}

}  // namespace dragoman::internal
