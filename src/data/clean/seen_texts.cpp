#include "data/clean/seen_texts.h"

#include <utility>

namespace dragoman::internal {
namespace {

constexpr size_t first_slots = 16;

bool is_free(XXH128_hash_t slot) { return slot.low64 == 0 && slot.high64 == 0; }

XXH128_hash_t as_stored(XXH128_hash_t hash) {
  if (is_free(hash)) hash.low64 = 1;
  return hash;
}

// A place in [0, slots), by the high bits of the product.
size_t first_place(XXH128_hash_t hash, size_t slots) {
  return static_cast<size_t>(((hash.high64 >> 32) * slots) >> 32);
}

}  // namespace

bool SeenTexts::insert(XXH128_hash_t hash) {
  hash = as_stored(hash);
  return tables_[hash.low64 % tables_.size()].insert(hash);
}

bool SeenTexts::contains(XXH128_hash_t hash) const {
  hash = as_stored(hash);
  return tables_[hash.low64 % tables_.size()].contains(hash);
}

size_t SeenTexts::bytes() const {
  size_t bytes = 0;
  for (const Table& table : tables_) bytes += table.slots.capacity() * sizeof(XXH128_hash_t);
  return bytes;
}

bool SeenTexts::Table::insert(XXH128_hash_t hash) {
  if (20 * (used + 1) > 17 * slots.size()) grow();
  XXH128_hash_t& slot = slots[place_of(hash)];
  if (!is_free(slot)) return false;
  slot = hash;
  ++used;
  return true;
}

bool SeenTexts::Table::contains(XXH128_hash_t hash) const {
  return !slots.empty() && !is_free(slots[place_of(hash)]);
}

size_t SeenTexts::Table::place_of(XXH128_hash_t hash) const {
  size_t place = first_place(hash, slots.size());
  while (!is_free(slots[place]) && XXH128_isEqual(slots[place], hash) == 0)
    place = place + 1 < slots.size() ? place + 1 : 0;
  return place;
}

void SeenTexts::Table::grow() {
  const std::vector<XXH128_hash_t> old =
      std::exchange(slots, std::vector<XXH128_hash_t>(first_slots + slots.size() + slots.size() / 4));
  used = 0;
  for (const XXH128_hash_t hash : old)
    if (!is_free(hash)) insert(hash);
}

}  // namespace dragoman::internal
