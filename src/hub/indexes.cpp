#include "hub/indexes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "hub/families.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

template <typename Work>
auto reading(const std::string& address, Work work) {
  try {
    return work();
  } catch (const json::exception& error) {
    throw Error("{} is not a valid model index: {}", address, reason_of(error));
  }
}

// The first of its links that this program can follow; the others are for other networks.
std::string link_of(const json& package) {
  for (const json& link : package.at("links"))
    if (const auto text = link.get<std::string>(); text.starts_with("https://")) return text;
  return "";
}

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

std::vector<FirefoxFile> files_of(const json& model) {
  std::vector<FirefoxFile> files;
  for (const char* kind : {"model", "vocab", "srcVocab", "trgVocab", "lexicalShortlist"}) {
    const auto found = model.at("files").find(kind);
    if (found == model.at("files").end()) continue;
    FirefoxFile file{found->at("path"), text_at(*found, "uncompressedHash"), max_firefox_bytes};
    if (found->contains("uncompressedSize") && !found->at("uncompressedSize").is_null())
      file.max_bytes = std::min<uint64_t>(max_firefox_bytes,
                                          static_cast<uint64_t>(integer_at(*found, "uncompressedSize")));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

std::vector<ArgosPackage> argos_packages(const json& index, const std::string& address) {
  return reading(address, [&] {
    std::vector<ArgosPackage> list;
    for (const json& package : index) {
      if (package.value("type", "translate") != "translate") continue;
      list.push_back({package.at("from_code"), package.at("to_code"), link_of(package)});
    }
    return list;
  });
}

std::vector<std::string> firefox_names(const json& index, const std::string& address) {
  return reading(address, [&] { return names_in(index); });
}

std::vector<FirefoxFile> firefox_files(const json& index, const std::string& address, const std::string& from,
                                       const std::string& to) {
  return reading(address, [&] {
    const json& models = index.at("models");
    const auto found = models.find(from + "-" + to);
    if (found != models.end()) return files_of(chosen_model(*found));
    throw Error("Firefox Translations has no model from {} to {}{}", from, to,
                suggestion(fmt::format("firefox {} {}", from, to), names_in(index)));
  });
}

}  // namespace dragoman::internal
