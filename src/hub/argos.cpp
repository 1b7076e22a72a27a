// Packages of Argos Translate, found by their languages in an index.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "hub/catalogue.h"
#include "hub/families.h"
#include "hub/indexes.h"

namespace dragoman::internal {
namespace {

std::vector<ArgosPackage> packages(Hub& hub, const std::string& folder) {
  const std::string address = hub.address(catalogue().argos.index);
  return argos_packages(hub.index(address, folder + "/index.json"), address);
}

std::string name_of(const ArgosPackage& package) {
  return fmt::format("argos {} {}", package.from, package.to);
}

}  // namespace

std::vector<std::string> names_of_argos(Hub& hub, const std::string& folder) {
  std::vector<std::string> names;
  for (const ArgosPackage& package : packages(hub, folder)) names.push_back(name_of(package));
  return names;
}

std::string download_argos(Hub& hub, const PublishedModel& model, const std::string& folder) {
  const std::vector<ArgosPackage> all = packages(hub, folder);
  const auto found = std::ranges::find_if(all, [&](const ArgosPackage& package) {
    return package.from == model.from && package.to == model.to && !package.link.empty();
  });
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const ArgosPackage& package : all) names.push_back(name_of(package));
    const std::string name = fmt::format("argos {} {}", model.from, model.to);
    throw Error("Argos Translate has no package from {} to {}{}", model.from, model.to,
                suggestion(name, names));
  }
  const std::string path = folder + "/" + checked_name(found->link, "the index of Argos Translate");
  hub.require({.url = hub.address(found->link), .path = path});
  return path;
}

}  // namespace dragoman::internal
