// The encoded corpus on disk: a few memory-mapped files ("shards"), each a fair sample of every source.
//
// A file is a header, the ids of all its pairs end to end (16 bits each if the vocabularies allow it, else 32), and a
// record for each pair, in the order of the corpus. Byte order is the machine's. The header has its own checksum and
// the fingerprint of the corpus's origin; a file with wrong sizes or another fingerprint is an Error when opened, one
// whose contents have changed when verified. Start and end tokens are not stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dragoman::internal {

struct PairRecord {
  uint64_t pair;   // its index in the corpus
  uint64_t begin;  // of its source's ids; its target's follow
  uint32_t source_length, target_length;
};

// The ids of each side are below these.
struct VocabularySizes {
  int64_t source, target;
};

class ShardWriter {
 public:
  ShardWriter(const std::string& path, int id_bytes, uint64_t fingerprint);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;
  ShardWriter& operator=(ShardWriter&&) noexcept;

  void add(uint64_t pair, std::span<const int32_t> source, std::span<const int32_t> target);
  void finish();  // writes the records and the header, and syncs to disk

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

class Shard {
 public:
  Shard(const std::string& path, uint64_t fingerprint, const VocabularySizes& sizes);
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  std::span<const PairRecord> pairs() const { return pairs_; }
  // Throws an Error if the ids are not in the file, or not in the vocabularies.
  void read(const PairRecord& pair, std::vector<int32_t>& source, std::vector<int32_t>& target) const;
  uint64_t content_checksum() const;  // as the header has it
  void release() const;               // frees the memory of its pages, which are read again when needed
  // Reads all of it. Throws an Error, with its path, unless the checksums are right and the records follow each other.
  void verify() const;

 private:
  struct Mapping;
  uint64_t checksum(uint64_t begin, uint64_t end) const;

  std::unique_ptr<Mapping> mapping_;
  std::span<const PairRecord> pairs_;
  VocabularySizes sizes_;
};

// Verifies each, on several threads.
void verify(const std::vector<Shard>& shards, int threads);

std::string shard_path(const std::string& folder, int64_t number);

}  // namespace dragoman::internal
