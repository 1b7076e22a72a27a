// Packages of Argos Translate, found by their languages in an index.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "hub/catalogue.h"
#include "hub/families.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

struct Package {
  std::string from, to, link;
};

// The first of its links that this program can follow; the others are of other networks.
std::string link_of(const json& package) {
  for (const json& link : package.at("links"))
    if (const auto text = link.get<std::string>(); text.starts_with("https://")) return text;
  return "";
}

std::vector<Package> packages(Hub& hub, const std::string& folder) {
  const std::string address = hub.address(catalogue().argos.index);
  const json index = hub.index(address, folder + "/index.json");
  std::vector<Package> list;
  try {
    for (const json& package : index) {
      if (package.value("type", "translate") != "translate") continue;
      list.push_back({package.at("from_code"), package.at("to_code"), link_of(package)});
    }
  } catch (const json::exception& error) {
    throw Error("{} is not the list of packages that it should be: {}", address, error.what());
  }
  return list;
}

std::string name_of(const Package& package) { return fmt::format("argos {} {}", package.from, package.to); }

}  // namespace

std::vector<std::string> names_of_argos(Hub& hub, const std::string& folder) {
  std::vector<std::string> names;
  for (const Package& package : packages(hub, folder)) names.push_back(name_of(package));
  return names;
}

std::string download_argos(Hub& hub, const PublishedModel& model, const std::string& folder) {
  const std::vector<Package> all = packages(hub, folder);
  const auto found = std::ranges::find_if(all, [&](const Package& package) {
    return package.from == model.from && package.to == model.to && !package.link.empty();
  });
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const Package& package : all) names.push_back(name_of(package));
    const std::string name = fmt::format("argos {} {}", model.from, model.to);
    throw Error("Argos Translate has no package from {} to {}{}", model.from, model.to,
                suggestion(name, names));
  }
  const std::string path = folder + "/" + checked_name(found->link, "the index of Argos Translate");
  hub.require({.url = hub.address(found->link), .path = path});
  return path;
}

}  // namespace dragoman::internal
