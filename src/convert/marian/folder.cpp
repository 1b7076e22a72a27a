#include "convert/marian/folder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/files/packed.h"
#include "convert/files/yaml.h"
#include "convert/files/zip_archive.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using FileNames = std::vector<std::string>;

constexpr uint64_t max_settings_bytes = 1 << 20;
constexpr uint64_t max_tensors = 1 << 20;

std::string_view without_gz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

bool is_list(std::string_view name) {
  name = without_gz(name);
  return name.ends_with(".yml") || name.ends_with(".yaml") || name.ends_with(".json");
}

// By the file's contents, since many kinds of files are named .npz and .bin. A damaged zip archive may have been
// a model: reading it reports what is wrong.
bool is_model(const std::string& path) {
  const std::string_view name = without_gz(path);
  if (name.ends_with(".optimizer.npz")) return false;
  if (name.ends_with(".npz")) {
    try {
      return ZipArchive(path, map_file(path)).has("special:model.yml.npy");
    } catch (const Error&) {
      return true;
    }
  }
  const std::string beginning = name.ends_with(".bin") ? beginning_of(path, 2 * sizeof(uint64_t)) : "";
  uint64_t numbers[2] = {};  // version, tensors
  if (beginning.size() < sizeof numbers) return false;
  std::memcpy(numbers, beginning.data(), sizeof numbers);
  return (numbers[0] == 1 || numbers[0] == 2) && numbers[1] > 0 && numbers[1] < max_tensors;
}

FileNames files_in(const std::string& folder) {
  FileNames names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

FileNames models_in(const std::string& folder) {
  FileNames models;
  for (const std::string& name : files_in(folder))
    if (is_model((fs::path(folder) / name).string())) models.push_back(name);
  return models;
}

std::string model_of(const std::string& source) {
  if (!fs::is_directory(source)) return source;
  const FileNames models = models_in(source);
  if (models.empty()) throw Error("{} contains no Marian model, neither .npz nor .bin", source);
  if (models.size() > 1)
    throw Error("{} has several models, {}: name the file to import", source, fmt::join(models, ", "));
  return (fs::path(source) / models[0]).string();
}

// The only file with such a name; empty if there is none.
std::string find_file(const std::string& folder, const char* what,
                      const std::function<bool(std::string_view)>& is_name) {
  FileNames found;
  for (const std::string& name : files_in(folder))
    if (is_name(without_gz(name))) found.push_back(name);
  if (found.size() > 1)
    throw Error("{} has several {}, {}: keep those of one model", folder, what, fmt::join(found, ", "));
  return found.empty() ? "" : (fs::path(folder) / found[0]).string();
}

std::optional<Settings> decoding_of(const std::string& model, const std::string& folder) {
  std::string path = model + ".decoder.yml";
  if (!fs::exists(path)) {
    path = find_file(folder, "decoder.yml files", [](std::string_view name) {
      return name.ends_with("decoder.yml") || (name.starts_with("config.intgemm") && name.ends_with(".yml"));
    });
  }
  if (const fs::path own = fs::path(folder) / "config.yml"; path.empty() && fs::exists(own))
    path = own.string();
  if (path.empty()) return {};
  return Settings(path, parse_yaml(read_packed(path, max_settings_bytes), path));
}

// A file that decoder.yml names. Its folder may have been another one when it was written.
std::string named_file(const Settings& settings, const char* key, const std::string& name) {
  const fs::path folder = fs::path(settings.path()).parent_path();
  for (const fs::path& path : {folder / name, folder / fs::path(name).filename()})
    if (fs::is_regular_file(path)) return path.string();
  throw Error("{}: {} names {}, which does not exist", settings.path(), key, name);
}

// Item `index` of a list of files, as it is written there.
std::optional<std::string> listed_name(const std::optional<Settings>& settings, const char* key,
                                       size_t index) {
  if (!settings || !settings->has(key)) return {};
  const nlohmann::json& list = settings->values()[key];
  if (list.is_array() && list.empty()) return {};
  if (!list.is_array() || list.size() <= index || !list[index].is_string())
    throw Error("{}: {} must be a list of files", settings->path(), key);
  return list[index].get<std::string>();
}

// Its path; empty if there is no such list.
std::string listed_file(const std::optional<Settings>& settings, const char* key, size_t index) {
  const auto name = listed_name(settings, key, index);
  return name ? named_file(*settings, key, *name) : "";
}

// The file of a side by the names that published models have.
std::string usual_vocabulary(const std::string& folder, bool is_target) {
  const std::string own = is_target ? "trgvocab." : "srcvocab.",
                    side = is_target ? "target.spm" : "source.spm";
  for (const auto& is_name : std::vector<std::function<bool(std::string_view)>>{
           [&](std::string_view name) { return name.starts_with(own) && is_spm(std::string(name)); },
           [](std::string_view name) { return name.starts_with("vocab.") && is_spm(std::string(name)); },
           [](std::string_view name) { return name.ends_with("vocab.yml"); },
           [&](std::string_view name) { return name == side; }}) {
    std::string path = find_file(folder, "vocabularies", is_name);
    if (!path.empty()) return path;
  }
  return "";
}

// Beside a list of tokens, as OPUS-MT's models have it.
std::string pieces_beside(const std::string& tokens, const std::string& folder, bool is_target) {
  const char* name = is_target ? "target.spm" : "source.spm";
  for (const fs::path& path : {fs::path(tokens).parent_path() / name, fs::path(folder) / name})
    if (fs::exists(path)) return path.string();
  throw Error("{} lists tokens, but {} has no {} to split text with: name it with --vocab or --target-vocab",
              tokens, folder, name);
}

MarianVocabulary vocabulary_of(const ImportRequest& request, const std::string& folder,
                               const std::optional<Settings>& decoding, bool is_target) {
  const auto& given = request.vocabularies;
  const std::string own = given.empty() ? "" : given[is_target ? given.size() - 1 : 0];
  MarianVocabulary vocabulary = {
      .tokens = own.empty() || is_spm(own) ? listed_file(decoding, "vocabs", is_target) : own};
  if (vocabulary.tokens.empty()) vocabulary.tokens = usual_vocabulary(folder, is_target);
  if (is_spm(own)) {
    vocabulary.pieces = own;
    if (!is_list(vocabulary.tokens)) vocabulary.tokens = own;
    return vocabulary;
  }
  if (vocabulary.tokens.empty())
    throw Error("{} has no vocabulary for the {}: name it with --vocab, or --target-vocab", folder,
                is_target ? "target" : "source");
  vocabulary.pieces =
      is_list(vocabulary.tokens) ? pieces_beside(vocabulary.tokens, folder, is_target) : vocabulary.tokens;
  return vocabulary;
}

bool is_binary_shortlist(std::string_view name) { return without_gz(name).ends_with(".bin"); }

// A text shortlist is not read: it may be missing, or one of several.
void find_shortlist(const std::string& folder, MarianFolder& found) {
  if (const auto named = listed_name(found.decoding, "shortlist", 0)) {
    if (is_binary_shortlist(*named)) {
      found.shortlist = named_file(*found.decoding, "shortlist", *named);
    } else {
      found.text_shortlist = *named;
    }
    return;
  }
  found.shortlist = find_file(folder, "shortlists", [](std::string_view name) {
    return name.starts_with("lex.") && is_binary_shortlist(name);
  });
  if (!found.shortlist.empty()) return;
  const FileNames files = files_in(folder);
  const auto text =
      std::ranges::find_if(files, [](const std::string& name) { return name.starts_with("lex."); });
  if (text != files.end()) found.text_shortlist = (fs::path(folder) / *text).string();
}

}  // namespace

bool is_spm(const std::string& path) {
  const std::string_view name = without_gz(path);
  return name.ends_with(".spm") || name.ends_with(".model");
}

bool has_marian_model(const std::string& source) {
  return fs::is_directory(source) ? !models_in(source).empty() : is_model(source);
}

MarianFolder find_marian_files(const ImportRequest& request) {
  const std::string model = model_of(request.source);
  const std::string parent = fs::path(model).parent_path().string(), folder = parent.empty() ? "." : parent;
  MarianFolder found = {
      .model = model, .decoding = decoding_of(model, folder), .vocabularies = {}, .shortlist = {}};
  for (const bool is_target : {false, true})
    found.vocabularies[is_target] = vocabulary_of(request, folder, found.decoding, is_target);
  find_shortlist(folder, found);
  return found;
}

}  // namespace dragoman::internal
