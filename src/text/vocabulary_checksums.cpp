#include "text/vocabulary_checksums.h"

#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

nlohmann::json config_of_vocabularies(const std::string& folder) {
  const fs::path path = fs::path(folder) / "config.json";
  if (!fs::exists(path)) return nlohmann::json::object();
  try {
    nlohmann::json config = parse_json(read_file(path.string()));
    return config.is_object() ? config : nlohmann::json::object();
  } catch (const nlohmann::json::exception&) {
    return nlohmann::json::object();
  }
}

nlohmann::json vocabulary_checksums(const std::string& folder) {
  nlohmann::json checksums = nlohmann::json::object();
  for (const char* name : {"shared.spm", "source.spm", "target.spm"}) {
    const fs::path file = fs::path(folder) / name;
    if (fs::exists(file)) checksums[name] = checksum_of(read_file(file.string()));
  }
  return checksums;
}

void verify_vocabulary(const nlohmann::json& config, const std::string& path, std::string_view contents) {
  const auto place =
      nlohmann::json::json_pointer("/vocabulary_checksums") / fs::path(path).filename().string();
  if (!config.contains(place) || config.at(place) == checksum_of(contents)) return;
  throw Error(
      "{} is damaged, or of another model: it does not match its checksum in config.json; copy it again from "
      "the original model",
      path);
}

}  // namespace dragoman::internal
