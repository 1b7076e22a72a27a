// The header of a safetensors file: from text and to text. Only safetensors.cpp needs it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/safetensors.h"

namespace dragoman {

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<TensorEntry> entries;  // in the order of the data
};

// `data` is everything behind the header; `path` is for the errors' sake.
SafetensorsHeader read_safetensors_header(const std::string& path, std::string_view text,
                                          std::span<const std::byte> data);

// Padded with spaces so that the data begin at a multiple of 64 bytes.
std::string safetensors_header_text(const Metadata& metadata, std::span<const TensorEntry> entries);

// "F32 [2, 3]"
std::string describe(const TensorEntry& entry);

// A name from a file as one short printable line.
std::string in_quotes(std::string_view name);

}  // namespace dragoman
