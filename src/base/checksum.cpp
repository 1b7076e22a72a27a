#include "base/checksum.h"

#include <xxhash.h>

#include <new>

#include <fmt/format.h>

namespace dragoman::internal {

namespace {

std::string text_of(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

std::string checksum_of(std::span<const std::byte> bytes) {
  return text_of(XXH3_64bits(bytes.data(), bytes.size()));
}

std::string checksum_of(std::string_view text) { return checksum_of(std::as_bytes(std::span(text))); }

uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Checksum::Checksum() : state_(XXH3_createState(), XXH3_freeState) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Checksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::string Checksum::text() const { return text_of(number()); }

uint64_t Checksum::number() const { return XXH3_64bits_digest(state_.get()); }

}  // namespace dragoman::internal
