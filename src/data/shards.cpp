#include "data/shards.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

struct Header {
  char magic[8] = {'d', 'r', 'a', 'g', 's', 'h', 'r', 'd'};
  uint32_t version = 1;
  uint32_t id_bytes = 0;
  uint64_t fingerprint = 0;
  uint64_t ids = 0, pairs = 0;
  uint64_t ids_checksum = 0, pairs_checksum = 0;
  uint64_t checksum = 0;  // of the header up to here
};
static_assert(sizeof(Header) == 64 && sizeof(PairRecord) == 24);

constexpr uint32_t max_length = 1 << 30;  // of a side, in ids

uint64_t checksum_of(const Header& header) { return XXH3_64bits(&header, offsetof(Header, checksum)); }

// Records begin at a multiple of eight.
uint64_t records_begin(const Header& header) {
  return sizeof(Header) + (header.ids * header.id_bytes + 7) / 8 * 8;
}

// A file written sequentially, with a running checksum.
class Column {
 public:
  explicit Column(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb+")) {
    if (!file_) fail("open");
  }
  ~Column() {
    if (file_) std::fclose(file_);
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  void write(const void* data, size_t size) {
    write_unsummed(data, size);
    sum_.add({static_cast<const std::byte*>(data), size});
  }
  void write_unsummed(const void* data, size_t size) {
    if (size > 0 && std::fwrite(data, 1, size, file_) != size) fail("write");
  }
  size_t read_some(char* to, size_t size) {
    const size_t n = std::fread(to, 1, size, file_);
    if (n == 0 && std::ferror(file_)) fail("read");
    return n;
  }
  void rewind() {
    if (std::fseek(file_, 0, SEEK_SET) != 0) fail("write");
  }
  void flush_to_disk() {
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) fail("write");
  }
  uint64_t checksum() const { return sum_.number(); }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* action) const {
    throw Error("cannot {} {}: {}", action, path_, std::strerror(errno));
  }

  std::string path_;
  std::FILE* file_;
  Checksum sum_;
};

template <class Id>
void write_ids(Column& column, std::span<const int32_t> ids, std::vector<Id>& buffer) {
  buffer.assign(ids.begin(), ids.end());
  column.write(buffer.data(), buffer.size() * sizeof(Id));
}

}  // namespace

// --- Writing ----------------------------------------------------------------------------------------

// Records are written to a temporary file, which finish() appends to the ids.
struct ShardWriter::Files {
  Column ids, records;
  Header header;
  std::vector<uint16_t> two_byte_ids;
  std::vector<uint32_t> four_byte_ids;

  explicit Files(const std::string& path) : ids(path), records(path + ".pairs") {}

  void add(std::span<const int32_t> side) {
    if (header.id_bytes == 2) {
      write_ids(ids, side, two_byte_ids);
    } else {
      write_ids(ids, side, four_byte_ids);
    }
    header.ids += side.size();
  }
};

ShardWriter::ShardWriter(const std::string& path, int id_bytes, uint64_t fingerprint)
    : files_(std::make_unique<Files>(path)) {
  CHECK(id_bytes == 2 || id_bytes == 4, "{}", id_bytes);
  files_->header.id_bytes = static_cast<uint32_t>(id_bytes);
  files_->header.fingerprint = fingerprint;
  files_->ids.write_unsummed(&files_->header, sizeof(Header));  // a placeholder until finish()
}

ShardWriter::~ShardWriter() = default;
ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;
ShardWriter& ShardWriter::operator=(ShardWriter&&) noexcept = default;

void ShardWriter::add(uint64_t pair, std::span<const int32_t> source, std::span<const int32_t> target) {
  const PairRecord record = {pair, files_->header.ids, static_cast<uint32_t>(source.size()),
                             static_cast<uint32_t>(target.size())};
  files_->add(source);
  files_->add(target);
  files_->records.write(&record, sizeof record);
  ++files_->header.pairs;
}

void ShardWriter::finish() {
  Header& header = files_->header;
  const uint64_t padding = records_begin(header) - sizeof(Header) - header.ids * header.id_bytes;
  files_->ids.write("\0\0\0\0\0\0\0", padding);
  header.ids_checksum = files_->ids.checksum();
  header.pairs_checksum = files_->records.checksum();
  header.checksum = checksum_of(header);
  files_->records.rewind();
  char buffer[1 << 16];
  while (const size_t n = files_->records.read_some(buffer, sizeof buffer))
    files_->ids.write_unsummed(buffer, n);
  files_->ids.rewind();
  files_->ids.write_unsummed(&header, sizeof header);
  files_->ids.flush_to_disk();
  std::remove(files_->records.path().c_str());
}

// --- Reading ----------------------------------------------------------------------------------------

struct Shard::Mapping {
  std::string path;
  const char* bytes = nullptr;
  size_t size = 0;
  Header header;

  explicit Mapping(const std::string& name);
  ~Mapping() {
    if (bytes) munmap(const_cast<char*>(bytes), size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[noreturn]] void damaged(const std::string& how) const {
    throw Error("{} {}: remove its folder to prepare the corpus again", path, how);
  }
  template <class Id>
  void read(uint64_t begin, uint32_t length, int64_t vocabulary, std::vector<int32_t>& ids) const {
    const std::span all(reinterpret_cast<const Id*>(bytes + sizeof(Header)) + begin, length);
    for (const Id id : all) {
      if (id >= vocabulary) damaged(fmt::format("has the subword {} of {}", id, vocabulary));
    }
    ids.assign(all.begin(), all.end());
  }
};

Shard::Mapping::Mapping(const std::string& name) : path(name) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error("cannot open {}: {}", path, std::strerror(errno));
  struct stat status = {};
  const bool known = fstat(file, &status) == 0;
  size = static_cast<size_t>(status.st_size);
  void* mapped =
      known && size >= sizeof(Header) ? mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  const int reason = errno;
  close(file);
  if (known && size < sizeof(Header)) damaged("is truncated");
  if (mapped == MAP_FAILED) throw Error("cannot map {} into memory: {}", path, std::strerror(reason));
  bytes = static_cast<const char*>(mapped);
  std::memcpy(&header, bytes, sizeof header);
}

// Bounds every count by the file's size before multiplying it.
Shard::Shard(const std::string& path, uint64_t fingerprint, const VocabularySizes& sizes)
    : mapping_(std::make_unique<Mapping>(path)), sizes_(sizes) {
  const Header& header = mapping_->header;
  const size_t size = mapping_->size;
  if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0 ||
      header.checksum != checksum_of(header)) {
    mapping_->damaged("is not a shard file, or is damaged");
  }
  if (header.version != Header().version) mapping_->damaged("was written by another version of this program");
  if (header.fingerprint != fingerprint) mapping_->damaged("belongs to another corpus or other settings");
  const bool sound = (header.id_bytes == 2 || header.id_bytes == 4) && header.ids <= size &&
                     header.pairs <= size &&
                     records_begin(header) + header.pairs * sizeof(PairRecord) == size;
  if (!sound) mapping_->damaged("is truncated");
  pairs_ = {reinterpret_cast<const PairRecord*>(mapping_->bytes + records_begin(header)), header.pairs};
}

Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

void Shard::read(const PairRecord& pair, std::vector<int32_t>& source, std::vector<int32_t>& target) const {
  const uint64_t ids = mapping_->header.ids, length = uint64_t{pair.source_length} + pair.target_length;
  if (pair.begin > ids || length > ids - pair.begin) mapping_->damaged("is damaged");
  if (mapping_->header.id_bytes == 2) {
    mapping_->read<uint16_t>(pair.begin, pair.source_length, sizes_.source, source);
    mapping_->read<uint16_t>(pair.begin + pair.source_length, pair.target_length, sizes_.target, target);
  } else {
    mapping_->read<uint32_t>(pair.begin, pair.source_length, sizes_.source, source);
    mapping_->read<uint32_t>(pair.begin + pair.source_length, pair.target_length, sizes_.target, target);
  }
}

void Shard::release() const { madvise(const_cast<char*>(mapping_->bytes), mapping_->size, MADV_DONTNEED); }

uint64_t Shard::content_checksum() const {
  const Header& header = mapping_->header;
  return XXH3_64bits_withSeed(&header.ids_checksum, sizeof header.ids_checksum, header.pairs_checksum);
}

// In pieces whose memory is freed: a shard may be larger than the available memory.
uint64_t Shard::checksum(uint64_t begin, uint64_t end) const {
  constexpr uint64_t piece = 16 << 20;
  Checksum sum;
  for (; begin < end; begin += std::min(piece, end - begin)) {
    sum.add(std::as_bytes(std::span(mapping_->bytes + begin, std::min(piece, end - begin))));
    release();
  }
  return sum.number();
}

void Shard::verify() const {
  const Header& header = mapping_->header;
  const uint64_t records = records_begin(header);
  if (checksum(sizeof(Header), records) != header.ids_checksum ||
      checksum(records, mapping_->size) != header.pairs_checksum) {
    mapping_->damaged("is damaged");
  }
  uint64_t ids = 0, next_pair = 0;
  for (const PairRecord& record : pairs_) {
    const bool follows = record.begin == ids && record.pair >= next_pair;
    if (!follows || std::max(record.source_length, record.target_length) > max_length)
      mapping_->damaged("is damaged");
    ids += uint64_t{record.source_length} + record.target_length;
    next_pair = record.pair + 1;
  }
  if (ids != header.ids) mapping_->damaged("is damaged");
  release();
}

void verify(const std::vector<Shard>& shards, int threads) {
  ThreadPool pool(std::min(threads, static_cast<int>(shards.size())));
  pool.for_each(shards.size(), [&](size_t number) { shards[number].verify(); });
}

std::string shard_path(const std::string& folder, int64_t number) {
  return (std::filesystem::path(folder) / fmt::format("shard-{:03}", number)).string();
}

}  // namespace dragoman::internal
