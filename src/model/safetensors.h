// safetensors: tensors by name in one file, as other systems read and write them too.
//
//   8 bytes       the header's size, little-endian
//   the header    JSON: {"__metadata__": {"key": "text"}, "NAME": {"dtype": "F32", "shape": [2, 3],
//                 "data_offsets": [0, 24]}, ...}, padded with spaces
//   the data      tensor after tensor, row by row, without holes or overlaps
//
// A file from anywhere may be opened: every size, offset, type and name is checked against the file's own size
// before anything is used, and each mistake is an Error that names the file. Tensors are mapped, not read: pages are
// loaded when they are touched, by verify() at the latest. As with any mapping, truncating the file meanwhile kills
// this process; our own writer replaces files and never changes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/safetensors_header.h"

namespace dragoman::internal {

class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::string& path);

  const Metadata& metadata() const { return metadata_; }
  // The value of this key; an Error if there is none.
  const std::string& metadata(std::string_view key) const;

  // In the order of the data.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  bool has(std::string_view name) const { return by_name_.contains(name); }
  // An Error if there is no such tensor.
  const TensorEntry& find(std::string_view name) const;

  // The matrix of this name and size; a vector has the shape [columns], or [1, columns]. Valid while this file
  // is open. An Error if its type or shape is another.
  std::span<const float> floats(std::string_view name, int64_t rows, int64_t columns) const;
  // The data of a tensor of this type and shape, at a multiple of `alignment` bytes in memory.
  const unsigned char* bytes(std::string_view name, Dtype dtype, const std::vector<int64_t>& shape,
                             size_t alignment) const;
  // A vector of any length.
  std::span<const int32_t> integers(std::string_view name) const;

  // Reads all tensors and compares them with their checksums, where the file has some (tensor_checksums.h).
  void verify(int threads = 1) const;

 private:
  SafetensorsFile() = default;

  std::string path_;
  std::shared_ptr<const void> mapping_;
  Metadata metadata_;
  std::vector<TensorEntry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;  // indices of entries_
};

// Replaces the file at the path, with the tensors in the order given, and their checksums among the metadata; the data
// begin at a multiple of 64 bytes, so that tensors whose sizes are multiples of 64 are aligned if they come first.
void write_safetensors(const std::string& path, Metadata metadata, std::span<const TensorEntry> entries);

// The same for tensors that need not fit into memory: each hands its bytes to a function, from the first to the last.
// It is asked for them several times, for the checksum first.
struct TensorStream {
  std::string name;
  Dtype dtype;
  std::vector<int64_t> shape;
  std::function<void(const std::function<void(std::span<const std::byte>)>& take)> bytes;
};
void stream_safetensors(const std::string& path, Metadata metadata, std::span<const TensorStream> tensors);

}  // namespace dragoman::internal
