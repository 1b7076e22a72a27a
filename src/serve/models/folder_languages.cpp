#include "serve/models/folder_languages.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/lines.h"
#include "serve/models/named_folder.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const nlohmann::json& data, const char* key) {
  std::vector<std::string> files;
  if (!data.is_object() || !data.contains(key) || !data[key].is_array()) return files;
  for (const nlohmann::json& file : data[key])
    if (file.is_string()) files.push_back(file.get<std::string>());
  return files;
}

std::string language_of_first(const std::vector<std::string>& files) {
  if (files.empty()) return "";
  const std::string ending = uncompressed_name(files.front()).extension().string();
  return ending.empty() ? "" : language_code(ending.substr(1));
}

std::optional<LanguagePair> pair_of_files(const nlohmann::json& data) {
  for (const auto& [source, target] :
       {std::pair("source", "target"), std::pair("valid_source", "valid_target")}) {
    const std::string from = language_of_first(files_of(data, source)),
                      to = language_of_first(files_of(data, target));
    if (!from.empty() && !to.empty() && from != to) return LanguagePair{from, to};
  }
  for (const std::string& file : files_of(data, "tsv")) {
    const fs::path name = uncompressed_name(file);
    if (const auto pair = pair_of(name.stem().string())) return pair;
    if (const auto pair = pair_of(fs::path(file).parent_path().filename().string())) return pair;
  }
  return std::nullopt;
}

std::optional<LanguagePair> pair_of_recipe(const std::string& config) {
  const nlohmann::json all = parse_json(config);
  if (!all.contains("recipe") || !all["recipe"].is_object() || !all["recipe"].contains("data"))
    return std::nullopt;
  const nlohmann::json& data = all["recipe"]["data"];
  std::optional<LanguagePair> pair = pair_of_files(data);
  const bool swap = data.is_object() && data.contains("swap") && data["swap"] == true;
  if (pair && swap) std::swap(pair->first, pair->second);
  return pair;
}

std::optional<LanguagePair> pair_of_folder(const std::string& folder) {
  return pair_of(last_part(fs::path(folder).lexically_normal().string()));
}

std::map<std::string, std::string> by_code(const std::vector<std::string>& names) {
  std::map<std::string, std::string> codes;
  for (const std::string& name : names) {
    const std::string code = language_code(name);
    codes.emplace(code.empty() ? name : code, name);
  }
  return codes;
}

}  // namespace

ModelLanguages languages_of(const dragoman::ModelInfo& model, const std::string& name) {
  ModelLanguages many = {by_code(model.source_languages), by_code(model.target_languages)};
  std::optional<LanguagePair> pair;
  if (!name.empty()) {
    pair = pair_named(name);
    if (!pair)
      throw UsageError("{}={}: {} is not a pair of languages such as en-fr", name, model.folder, name);
  } else if (many.sources.empty() || many.targets.empty()) {
    pair = pair_of_recipe(model.config);
    if (!pair) pair = pair_of_folder(model.folder);
    if (!pair)
      throw UsageError("the languages of {} are unknown: name them, as in --model en-fr={}", model.folder,
                       model.folder);
  }
  if (!pair) return many;
  const auto only = [&](const std::map<std::string, std::string>& of_model, const std::string& code) {
    if (of_model.empty()) return std::map<std::string, std::string>{{code, ""}};
    const auto found = of_model.find(code);
    if (found == of_model.end()) throw UsageError("{} has no language {}", model.folder, code);
    return std::map<std::string, std::string>{*found};
  };
  return {only(many.sources, pair->first), only(many.targets, pair->second)};
}

}  // namespace dragoman::internal
