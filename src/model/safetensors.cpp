#include "model/safetensors.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/mapped_file.h"
#include "base/quotes.h"
#include "model/tensor_checksums.h"

namespace dragoman::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t max_header_size = 100'000'000;

void check_alignment(const std::string& path, const TensorEntry& entry, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(entry.bytes.data()) % alignment == 0) return;
  throw Error("{}: tensor {} is not aligned to {} bytes; write the file again with a padded header", path,
              in_quotes(entry.name), alignment);
}

template <typename T>
std::span<const T> values(const std::string& path, const TensorEntry& entry) {
  check_alignment(path, entry, alignof(T));
  return {reinterpret_cast<const T*>(entry.bytes.data()), entry.bytes.size() / sizeof(T)};
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  SharedBytes mapping = map_file(path);
  const size_t size = mapping.bytes.size();
  uint64_t header_size = 0;
  if (size < sizeof header_size)
    throw Error("{}: a safetensors file has at least 8 bytes, this one has {}", path, size);
  std::memcpy(&header_size, mapping.bytes.data(), sizeof header_size);
  if (header_size > size - sizeof header_size) {
    throw Error("{}: a header of {} bytes in a file of {}; it is truncated, or not a safetensors file", path,
                header_size, size);
  }
  if (header_size > max_header_size) {
    throw Error("{}: a header of {} bytes is above the limit of {}", path, header_size, max_header_size);
  }
  const std::span<const std::byte> behind = mapping.bytes.subspan(sizeof header_size);
  const std::span<const std::byte> data = behind.subspan(header_size);
  const std::string_view text(reinterpret_cast<const char*>(behind.data()), header_size);
  SafetensorsHeader header = read_safetensors_header(path, text, data);

  SafetensorsFile file;
  file.path_ = path;
  file.mapping_ = std::move(mapping.owner);
  file.metadata_ = std::move(header.metadata);
  file.entries_ = std::move(header.entries);
  for (size_t i = 0; i < file.entries_.size(); ++i) file.by_name_.emplace(file.entries_[i].name, i);
  return file;
}

const std::string& SafetensorsFile::metadata(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw Error("{} has no {} in its metadata", path_, in_quotes(key));
  return found->second;
}

const TensorEntry& SafetensorsFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw Error("{} has no tensor {}", path_, in_quotes(name));
  return entries_[found->second];
}

std::span<const float> SafetensorsFile::floats(std::string_view name, int64_t rows, int64_t columns) const {
  const TensorEntry& entry = find(name);
  const bool vector = rows == 1 && entry.shape == std::vector<int64_t>{columns};
  if (entry.dtype != Dtype::f32 || !(vector || entry.shape == std::vector<int64_t>{rows, columns})) {
    throw Error("{}: tensor {} is {}, expected F32 [{}, {}]", path_, in_quotes(name), describe(entry), rows,
                columns);
  }
  return values<float>(path_, entry);
}

const unsigned char* SafetensorsFile::bytes(std::string_view name, Dtype dtype,
                                            const std::vector<int64_t>& shape, size_t alignment) const {
  const TensorEntry& entry = find(name);
  if (entry.dtype != dtype || entry.shape != shape) {
    throw Error("{}: tensor {} is {}, expected {}", path_, in_quotes(name), describe(entry),
                describe({.name = {}, .dtype = dtype, .shape = shape, .bytes = {}}));
  }
  check_alignment(path_, entry, alignment);
  return reinterpret_cast<const unsigned char*>(entry.bytes.data());
}

std::span<const int32_t> SafetensorsFile::integers(std::string_view name) const {
  const TensorEntry& entry = find(name);
  if (entry.dtype != Dtype::i32 || entry.shape.size() != 1) {
    throw Error("{}: tensor {} is {}, expected a vector of I32", path_, in_quotes(name), describe(entry));
  }
  return values<int32_t>(path_, entry);
}

void SafetensorsFile::verify(int threads) const { verify_checksums(path_, metadata_, entries_, threads); }

void write_safetensors(const std::string& path, Metadata metadata, std::span<const TensorEntry> entries) {
  std::vector<TensorStream> streams;
  for (const TensorEntry& entry : entries)
    streams.push_back({entry.name, entry.dtype, entry.shape, [&](const auto& take) { take(entry.bytes); }});
  stream_safetensors(path, std::move(metadata), streams);
}

void stream_safetensors(const std::string& path, Metadata metadata, std::span<const TensorStream> tensors) {
  std::vector<TensorEntry> entries;
  for (const TensorStream& tensor : tensors) {
    Checksum checksum;
    int64_t size = 0;
    tensor.bytes([&](std::span<const std::byte> bytes) {
      checksum.add(bytes);
      size += std::ssize(bytes);
    });
    entries.push_back({tensor.name, tensor.dtype, tensor.shape, {}});
    CHECK(size == size_of(entries.back()), "tensor {}: {} bytes for {}", tensor.name, size,
          describe(entries.back()));
    add_checksum(metadata, tensor.name, checksum.text());
  }
  const std::string header = safetensors_header_text(metadata, entries);
  const uint64_t header_size = header.size();
  stream_to_file(path, [&](const auto& take) {
    take({reinterpret_cast<const char*>(&header_size), sizeof header_size});
    take(header);
    for (const TensorStream& tensor : tensors) {
      tensor.bytes([&](std::span<const std::byte> bytes) {
        take({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      });
    }
  });
}

}  // namespace dragoman::internal
