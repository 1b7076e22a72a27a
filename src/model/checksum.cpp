#include "model/checksum.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// confidence.json tells how far translations can be trusted, and changes none.
bool makes_the_model(const std::string& name) {
  return name != "metrics.jsonl" && name != "confidence.json" && !name.starts_with("events.") &&
         !name.starts_with('.');
}

// What is read of a recipe once the model is there.
json recipe_of_model(const json& recipe) {
  json kept = json::object();
  for (const char* place : {"/data/from", "/data/to", "/data/max_length", "/vocabulary/source_eos",
                            "/vocabulary/sampling", "/training/label_smoothing", "/training/smoothing_over"})
    if (const json::json_pointer key(place); recipe.contains(key)) kept[key] = recipe.at(key);
  kept["terms"] = recipe.value("/data/terms"_json_pointer, "") != "";  // which the model has learned to use
  return kept;
}

std::string config_checksum(const std::string& path) {
  try {
    json config = parse_json(read_file(path));
    const json recipe = config.value("recipe", json::object());
    for (const char* key : {"made_by", "given", "init_from"}) config.erase(key);
    config["recipe"] = recipe_of_model(recipe);
    return checksum_of(json_text(config));
  } catch (const json::exception&) {
    return file_checksum(path);  // whoever opens the model says what is wrong
  }
}

}  // namespace

std::string file_checksum(const std::string& path) { return checksum_of(map_file(path).bytes); }

std::string model_checksum(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& path : entries_of(folder))
    if (fs::is_regular_file(path) && makes_the_model(fs::path(path).filename().string()))
      files.push_back(path);
  std::ranges::sort(files);
  std::string all;
  for (const std::string& path : files) {
    const std::string name = fs::path(path).filename().string();
    all += name + " " + (name == "config.json" ? config_checksum(path) : file_checksum(path)) + "\n";
  }
  return checksum_of(all);
}

}  // namespace dragoman::internal
