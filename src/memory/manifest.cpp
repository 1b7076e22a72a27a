#include "memory/manifest.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

constexpr int64_t memory_version = 1;

// A file of this very folder.
std::string file_name(const nlohmann::json& json) {
  std::string name = json.get<std::string>();
  if (name.empty() || name.find('/') != name.npos || name.starts_with('.'))
    throw nlohmann::json::other_error::create(501, name + " is not a file's name", nullptr);
  return name;
}

}  // namespace

MemoryManifest read_manifest(const std::string& folder) {
  const std::string path = folder + "/" + memory_manifest_name;
  std::error_code none;
  if (!std::filesystem::exists(path, none))
    throw Error("{} is not a translation memory: there is no {} in it", folder, memory_manifest_name);
  try {
    const nlohmann::json json = parse_json(read_file(path));
    if (integer_at(json, "format") > memory_version)
      throw Error("{} was made by a later version of this program", folder);
    MemoryManifest manifest = {.from = json.at("from"), .to = json.at("to")};
    for (const auto& part : json.at("parts")) manifest.parts.push_back(file_name(part));
    manifest.log = file_name(json.at("log"));
    manifest.files = integer_at(json, "files");
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is damaged: {}", path, reason_of(error));
  }
}

void write_manifest(const std::string& folder, const MemoryManifest& manifest) {
  const nlohmann::ordered_json json = {{"format", memory_version}, {"from", manifest.from},
                                       {"to", manifest.to},        {"parts", manifest.parts},
                                       {"log", manifest.log},      {"files", manifest.files}};
  write_file(folder + "/" + memory_manifest_name, {json_text(json, 1) + "\n"});
}

}  // namespace dragoman::internal
