// Model files as earlier versions wrote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "model/safetensors.h"

namespace dragoman::internal {

// Writes the file again with these tensors, and this as the whole of its metadata.
inline void rewrite(const std::string& path, const Metadata& metadata,
                    const std::vector<TensorEntry>& entries) {
  const std::string header = safetensors_header_text(metadata, entries);
  const uint64_t size = header.size();
  std::vector<std::string_view> parts = {{reinterpret_cast<const char*>(&size), sizeof size}, header};
  for (const TensorEntry& entry : entries)
    parts.emplace_back(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
  write_file(path, parts);
}

inline void remove_checksums(const std::string& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  Metadata metadata = file.metadata();
  std::erase_if(metadata, [](const auto& item) { return item.first.starts_with("xxh3:"); });
  rewrite(path, metadata, file.entries());
}

}  // namespace dragoman::internal
