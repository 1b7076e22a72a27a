// What the indexes of published models say. They come from the network: an Error with their address says what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

struct ArgosPackage {
  std::string from, to, link;  // link: empty where this program can follow none of its links
};
std::vector<ArgosPackage> argos_packages(const nlohmann::json& index, const std::string& address);

// A file of a model of Firefox: where it lies, and what it is when it is unpacked.
struct FirefoxFile {
  std::string path, sha256;
  uint64_t most_bytes;
};
constexpr uint64_t most_firefox_bytes = uint64_t{1} << 30;

// As a user names them: "firefox en fr".
std::vector<std::string> firefox_names(const nlohmann::json& index, const std::string& address);
std::vector<FirefoxFile> firefox_files(const nlohmann::json& index, const std::string& address,
                                       const std::string& from, const std::string& to);

}  // namespace dragoman::internal
