#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/mapped_file.h"
#include "convert/files/unpacked_archive.h"
#include "convert/files/zip_archive.h"
#include "convert/settings.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

bool is_package(const fs::path& folder) {
  return fs::is_regular_file(folder / "metadata.json") && fs::is_regular_file(folder / "model/model.bin");
}

// The files of the model; packages also contain the data of programs, such as sentence splitters.
bool is_of_model(std::string_view name) {
  return name.ends_with("/metadata.json") || name.ends_with("/sentencepiece.model") ||
         name.ends_with("/bpe.model") || name.find("/model/") != std::string_view::npos;
}

// The archive has one folder.
std::string folder_in(const std::string& path, const std::string& unpacked) {
  for (const std::string& entry : entries_of(unpacked))
    if (is_package(entry)) return entry;
  throw Error(
      "{} is not a package of Argos Translate: it has no folder with metadata.json and model/model.bin",
      path);
}

void check_package(const std::string& folder) {
  if (fs::exists(folder + "/bpe.model"))
    throw Error(
        "{} splits text with bpe.model, which is not supported: only packages with sentencepiece.model are",
        folder);
}

// As Argos Translate searches.
CTranslate2Search search_of(const Settings& metadata) {
  return {.beam = 4,
          .length_penalty = 0.2,
          .replace_unknown = true,
          .target_prefix = metadata.text("target_prefix", "")};
}

ImportedModel import_folder(const std::string& folder, const std::vector<std::string>& vocabularies) {
  const Settings metadata(folder, "metadata.json");
  check_package(folder);
  ImportedModel model = import_ctranslate2_for({.source = folder + "/model", .vocabularies = vocabularies},
                                               search_of(metadata));
  model.system = "Argos Translate";
  model.source_language = metadata.text("from_code", "");
  model.choices.push_back(fmt::format("package: {} to {}, version {}", metadata.text("from_code", "?"),
                                      metadata.text("to_code", "?"), metadata.text("package_version", "?")));
  return model;
}

}  // namespace

bool is_argos(const std::string& source) {
  if (fs::is_directory(source)) return is_package(source);
  if (!is_zip_file(source)) return false;
  const ZipArchive archive(source, map_file(source));
  return std::ranges::any_of(archive.members(),
                             [](const auto& member) { return member.first.ends_with("/metadata.json"); });
}

ImportedModel import_argos(const ImportRequest& request) {
  if (fs::is_directory(request.source)) return import_folder(request.source, request.vocabularies);
  const auto archive = std::make_shared<const UnpackedArchive>(request.source, is_of_model);
  try {
    ImportedModel model = import_folder(folder_in(request.source, archive->folder()), request.vocabularies);
    model.tensors_of = [archive, tensors_of = std::move(model.tensors_of)](const Parameter& parameter) {
      return tensors_of(parameter);
    };
    return model;
  } catch (const Error& error) {  // it would name files of the temporary folder
    std::string message = error.what();
    const size_t at = message.find(archive->folder());
    if (at != message.npos) message.replace(at, archive->folder().size(), request.source);
    throw Error("{}", message);
  }
}

}  // namespace dragoman::internal
