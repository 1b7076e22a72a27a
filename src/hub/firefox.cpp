// Models of Firefox Translations, found by their languages in an index, which has their SHA-256. Their files are
// compressed.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "hub/catalogue.h"
#include "hub/families.h"
#include "hub/indexes.h"
#include "hub/sha256.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// Of a download, `path`, whose contents are not what they should be: without it, the next command downloads it again.
[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  fs::remove(path);
  throw Error("{} {}: it is removed; try again later", path, why);
}

void unpack(const std::string& from, const std::string& to, uint64_t max_bytes) {
  PartFile file(to);
  file.start("");
  const auto bytes = open_bytes(from);
  std::string block(1 << 18, '\0');
  const auto read = [&] {
    try {
      return bytes->read(block.data(), block.size());
    } catch (const Error& error) {
      refuse(from, fmt::format("cannot be decompressed ({})", error.what()));
    }
  };
  try {
    while (const size_t count = read()) {
      if (file.size() + count > max_bytes)
        refuse(from, fmt::format("decompresses to more than the expected {} bytes", max_bytes));
      file.append({block.data(), count});
    }
  } catch (const Error&) {
    file.discard();
    throw;
  }
  file.finish();
}

void get_file(Hub& hub, const FirefoxFile& file, const std::string& folder) {
  const std::string packed = folder + "/" + checked_name(file.path, "the index of Firefox Translations");
  hub.require({.url = hub.address(catalogue().firefox.files, {{"file", file.path}}),
               .path = packed,
               .max_bytes = max_firefox_bytes});
  const std::string name = fs::path(packed).filename().string();
  const std::string path =
      folder + "/model/" + (name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name);
  unpack(packed, path, file.max_bytes);
  if (file.sha256.empty()) return;
  const std::string sum = sha256_of_file(path);
  if (sum == file.sha256) return;
  fs::remove(path);
  refuse(packed, fmt::format("has contents whose SHA-256 is {}, but should be {}", sum, file.sha256));
}

}  // namespace

std::vector<std::string> names_of_firefox(Hub& hub, const std::string& folder) {
  const std::string address = hub.address(catalogue().firefox.index);
  return firefox_names(hub.index(address, folder + "/index.json"), address);
}

std::string download_firefox(Hub& hub, const PublishedModel& model, const std::string& folder) {
  const std::string address = hub.address(catalogue().firefox.index);
  const std::vector<FirefoxFile> files =
      firefox_files(hub.index(address, folder + "/index.json"), address, model.from, model.to);
  make_folder(folder + "/model");
  for (const FirefoxFile& file : files) get_file(hub, file, folder);
  return folder + "/model";
}

}  // namespace dragoman::internal
