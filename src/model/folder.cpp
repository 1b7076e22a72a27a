#include "model/folder.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/quotes.h"

namespace dragoman::internal {

namespace fs = std::filesystem;

namespace {

constexpr int format = 1;

// The model folders beside it may have a name like it.
[[noreturn]] void throw_missing(const std::string& folder) {
  if (fs::exists(folder + ".toml"))
    throw Error("there is no model folder {}, but a recipe {}.toml: train it first (dragoman train {}.toml)",
                folder, folder, folder);
  const fs::path path = (fs::path(folder) / "").parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", error)) {
    if (fs::exists(entry.path() / "config.json", error))
      names.push_back((path.parent_path() / entry.path().filename()).string());
  }
  std::ranges::sort(names);
  const bool is_name = !path.has_parent_path();
  if (const std::string in_models = "models/" + folder;
      is_name && fs::exists(in_models + "/config.json", error))
    throw Error("there is no model folder {}; did you mean {}?", folder, in_models);
  if (is_name && folder.starts_with("opus-mt-"))
    throw Error("there is no model folder {}: to download this model, dragoman get {}", folder, folder);
  const std::string meant = suggestion(path.string(), names);
  throw Error("there is no model folder {}{}", folder, meant.empty() ? ": check the path" : meant);
}

// For a folder of model folders: the first of them.
std::string models_inside(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (fs::exists(entry.path() / "config.json", error)) found.push_back(entry.path().string());
  }
  return found.empty() ? "" : "; did you mean " + *std::ranges::min_element(found) + "?";
}

// Where the folder has files as other systems' models have them.
void check_other_systems(const std::string& folder) {
  for (const char* file :
       {"model.bin", "pytorch_model.bin", "model.npz", "decoder.yml", "tokenizer_config.json"}) {
    if (fs::exists(fs::path(folder) / file))
      throw Error("{} holds another system's model: convert it first (dragoman import {} --out DIR)", folder,
                  folder);
  }
}

}  // namespace

nlohmann::json read_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) throw Error("cannot read {}: {}", path, error.message());
  if (!exists && !folder.empty() && !fs::exists(folder)) throw_missing(folder);
  if (!exists) {
    check_other_systems(folder);
    throw Error("{} is not a model folder: it has no config.json{}", folder.empty() ? "\"\"" : folder,
                models_inside(folder));
  }
  nlohmann::json config;
  try {
    config = parse_json(read_file(path));
    if (!config.contains("format")) check_other_systems(folder);
    const nlohmann::json& found = config.at("format");
    if (!found.is_number_integer() || found < 1)
      throw Error("{} has format {}, but format numbers start at 1: is it a model configuration?", path,
                  shortened(found.dump()));
    if (found > format) {
      throw Error("{} has format {}, but this version reads formats up to {}: use a newer one", path,
                  shortened(found.dump()), format);
    }
  } catch (const nlohmann::json::exception& parsing) {
    throw Error("{} is not a model configuration: {}", path, shortened(reason_of(parsing), 300));
  }
  return config;
}

ModelConfig read_model_config(const std::string& folder) {
  return read_model_config(folder, read_config(folder));
}

ModelConfig read_model_config(const std::string& folder, const nlohmann::json& config) {
  if (!config.contains("model")) throw Error("{}/config.json has no section \"model\"", folder);
  return model_config_from_json(config.at("model"), folder + "/config.json");
}

std::string existing_weights(const std::string& folder) {
  const std::string path = weights_path(folder);
  if (fs::exists(path)) return path;
  throw Error(
      "{} has no model.safetensors: training has not saved a model there yet, or the copy is incomplete",
      folder);
}

void check_new_model_folder(const std::string& folder) {
  // Of other systems, too, whose vocabularies may have the names of ours.
  for (const char* name :
       {"model.safetensors", "pytorch_model.bin", "model.bin", "model.npz", "model.pt", "decoder.yml"})
    if (fs::exists(fs::path(folder) / name))
      throw UsageError("{} already holds a model: choose another folder", folder);
  check_writable_folder(folder);
}

void copy_all_but_weights(const std::string& from, const std::string& to) {
  make_folder(to);
  for (const char* name :
       {"config.json", "source.spm", "target.spm", "shared.spm", "shortlist.safetensors"}) {
    const fs::path file = fs::path(from) / name;
    if (fs::exists(file)) write_file((fs::path(to) / name).string(), {read_file(file.string())});
  }
}

}  // namespace dragoman::internal
