// The indexes of published models. They come from the network: an Error with their address says what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

struct ArgosPackage {
  std::string from, to, link;  // link: empty if this program can follow none of its links
};
std::vector<ArgosPackage> argos_packages(const nlohmann::json& index, const std::string& address);

// A file of a Firefox model: its path, and its checksum and size limit when unpacked.
struct FirefoxFile {
  std::string path, sha256;
  uint64_t max_bytes;
};
constexpr uint64_t max_firefox_bytes = uint64_t{1} << 30;

// As a user names them: "firefox en fr".
std::vector<std::string> firefox_names(const nlohmann::json& index, const std::string& address);
std::vector<FirefoxFile> firefox_files(const nlohmann::json& index, const std::string& address,
                                       const std::string& from, const std::string& to);

}  // namespace dragoman::internal
