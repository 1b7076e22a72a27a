// SeenTexts: which texts have been seen, by hashes of 128 bits: about 20 bytes a text. Two different texts of a billion
// have the same hash with a probability of 1e-21.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <vector>

namespace dragoman::internal {

class SeenTexts {
 public:
  // Whether it is new.
  bool insert(XXH128_hash_t hash);
  bool contains(XXH128_hash_t hash) const;

  size_t bytes() const;

 private:
  // Open addressing in many small tables: one that is full grows by a quarter, and only its own hashes are copied.
  struct Table {
    std::vector<XXH128_hash_t> slots;  // a hash of zeros is free
    size_t used = 0;

    bool insert(XXH128_hash_t hash);
    bool contains(XXH128_hash_t hash) const;
    size_t place_of(XXH128_hash_t hash) const;  // where it is, or would be
    void grow();
  };
  std::array<Table, 1024> tables_;
};

}  // namespace dragoman::internal
