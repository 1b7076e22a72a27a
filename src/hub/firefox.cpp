// Models of Firefox Translations, found by their languages in an index, which has their SHA-256. Their files are
// compressed.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "hub/catalogue.h"
#include "hub/families.h"
#include "hub/sha256.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t most_unpacked_bytes = uint64_t{1} << 30;

// A file of a model in the index: where it lies, and what it is when it is unpacked.
struct Packed {
  std::string path, sha256;
  uint64_t most_bytes = most_unpacked_bytes;
};

std::vector<std::string> names_in(const json& index) {
  std::vector<std::string> names;
  for (const auto& [pair, models] : index.at("models").items()) {
    const size_t dash = pair.find('-');
    if (dash != pair.npos) names.push_back("firefox " + pair.substr(0, dash) + " " + pair.substr(dash + 1));
  }
  return names;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The one that Firefox has, else one that it has on Android, else the first.
const json& chosen_model(const json& models) {
  for (const char* status : {"Release", "Release Android"}) {
    for (const json& model : models)
      if (text_at(model, "releaseStatus") == status) return model;
  }
  return models.at(0);
}

std::vector<Packed> files_of(const json& model) {
  std::vector<Packed> files;
  for (const char* kind : {"model", "vocab", "srcVocab", "trgVocab", "lexicalShortlist"}) {
    const auto found = model.at("files").find(kind);
    if (found == model.at("files").end()) continue;
    Packed file{.path = found->at("path"), .sha256 = text_at(*found, "uncompressedHash")};
    if (found->contains("uncompressedSize") && !found->at("uncompressedSize").is_null())
      file.most_bytes = std::min<uint64_t>(most_unpacked_bytes,
                                           static_cast<uint64_t>(integer_at(*found, "uncompressedSize")));
    files.push_back(std::move(file));
  }
  return files;
}

void unpack(const std::string& from, const std::string& to, uint64_t most_bytes) {
  PartFile file(to);
  file.start("");
  std::string block(1 << 18, '\0');
  try {
    const auto bytes = open_bytes(from);
    while (const size_t count = bytes->read(block.data(), block.size())) {
      if (file.size() + count > most_bytes)
        throw Error("has more than the {} bytes that it should have", most_bytes);
      file.append({block.data(), count});
    }
  } catch (const Error& error) {
    fs::remove(to + ".part");
    throw Error("{} {}", from, error.what());
  }
  file.finish();
}

void get_file(Hub& hub, const Packed& file, const std::string& folder) {
  const std::string packed = folder + "/" + checked_name(file.path, "the index of Firefox Translations");
  hub.require({.url = hub.address(catalogue().firefox.files, {{"file", file.path}}),
               .path = packed,
               .most_bytes = most_unpacked_bytes});
  const std::string name = fs::path(packed).filename().string();
  const std::string path =
      folder + "/model/" + (name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name);
  unpack(packed, path, file.most_bytes);
  if (file.sha256.empty()) return;
  const std::string sum = sha256_of_file(path);
  if (sum == file.sha256) return;
  fs::remove(packed);
  fs::remove(path);
  throw Error("{}: the SHA-256 of what it contains is {}, but should be {}: try again later", packed, sum,
              file.sha256);
}

template <typename Work>
auto reading(const std::string& address, Work work) {
  try {
    return work();
  } catch (const json::exception& error) {
    throw Error("{} is not the list of models that it should be: {}", address, error.what());
  }
}

}  // namespace

std::vector<std::string> names_of_firefox(Hub& hub, const std::string& folder) {
  const std::string address = hub.address(catalogue().firefox.index);
  const json index = hub.index(address, folder + "/index.json");
  return reading(address, [&] { return names_in(index); });
}

std::string download_firefox(Hub& hub, const PublishedModel& model, const std::string& folder) {
  const std::string address = hub.address(catalogue().firefox.index);
  const json index = hub.index(address, folder + "/index.json");
  const auto files = reading(address, [&] {
    const json& models = index.at("models");
    const auto found = models.find(model.from + "-" + model.to);
    if (found != models.end()) return files_of(chosen_model(*found));
    throw Error("Firefox Translations has no model from {} to {}{}", model.from, model.to,
                suggestion(fmt::format("firefox {} {}", model.from, model.to), names_in(index)));
  });
  make_folder(folder + "/model");
  for (const Packed& file : files) get_file(hub, file, folder);
  return folder + "/model";
}

}  // namespace dragoman::internal
