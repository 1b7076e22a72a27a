// The header of a safetensors file, from text and to text: which tensors there are, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

enum class Dtype { boolean, u8, i8, f8_e5m2, f8_e4m3, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64 };

// The strings that a file carries besides its tensors.
using Metadata = std::map<std::string, std::string, std::less<>>;

struct TensorEntry {
  std::string name;
  Dtype dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<TensorEntry> entries;  // in the order of the data
};

// `data` is everything after the header; `path` is for error messages.
SafetensorsHeader read_safetensors_header(const std::string& path, std::string_view text,
                                          std::span<const std::byte> data);

// Of entries by name, type and shape. Padded with spaces so that the data begin at a multiple of 64 bytes.
std::string safetensors_header_text(const Metadata& metadata, std::span<const TensorEntry> entries);

// The bytes of a tensor of this type and shape.
int64_t size_of(const TensorEntry& entry);

// "F32 [2, 3]"
std::string describe(const TensorEntry& entry);

}  // namespace dragoman::internal
