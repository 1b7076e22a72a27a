// memory.json: what a memory's folder consists of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman::internal {

inline constexpr const char* memory_manifest_name = "memory.json";

struct MemoryManifest {
  std::string from, to;
  std::vector<std::string> parts = {};  // names of files, from the oldest to the newest
  std::string log = {};
  int64_t files = 0;  // that there were so far: no name is used twice

  std::string new_name(const char* kind) { return kind + std::string("-") + std::to_string(++files); }
};

// Throws an Error if the folder is not a memory, or is one of a later version.
MemoryManifest read_manifest(const std::string& folder);
void write_manifest(const std::string& folder, const MemoryManifest& manifest);

}  // namespace dragoman::internal
