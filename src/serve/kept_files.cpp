#include "serve/kept_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "serve/route.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

constexpr size_t longest_name = 300;

std::string temporary_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "dragoman-files-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    throw Error("{}: the folder for translated files cannot be made: {}", path, std::strerror(errno));
  return path;
}

}  // namespace

std::string plain_file_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, longest_name)) {
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    plain += letter || c == '.' || c == '-' ? c : '_';
  }
  const size_t first = std::min(plain.find_first_not_of('.'), plain.size());
  return plain.substr(first).empty() ? "file" : plain.substr(first);
}

KeptFiles::KeptFiles(const KeptFilesSettings& settings)
    : settings_(settings), sweeper_([this](const std::stop_token& stop) { run(stop); }) {}

KeptFiles::~KeptFiles() {
  sweeper_.request_stop();
  sweeper_.join();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string KeptFiles::keep(std::string_view bytes) {
  reserve(bytes.size());
  const std::string name = random_hex(16);
  std::ofstream file(path(name), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  const std::lock_guard lock(mutex_);
  const auto kept =
      files_.insert({name, {bytes.size(), std::chrono::steady_clock::now() + settings_.time}}).first;
  --reserved_;
  if (!file) {
    erase(kept);
    throw Error("{}: a translated file cannot be written: free some space there", folder_);
  }
  changed_.notify_all();
  return name;
}

void KeptFiles::reserve(size_t bytes) {
  const std::lock_guard lock(mutex_);
  remove_expired();
  if (files_.size() + reserved_ >= settings_.files || bytes > settings_.bytes - bytes_)
    throw ServeError(503, "too many translated files wait to be fetched: try again later",
                     {{"retry-after", "60"}});
  if (folder_.empty()) folder_ = temporary_folder();
  bytes_ += bytes;
  ++reserved_;
}

std::optional<std::string> KeptFiles::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found == files_.end() || found->second.until <= std::chrono::steady_clock::now()) return std::nullopt;
  std::ifstream file(path(name), std::ios::binary);
  std::string bytes(found->second.bytes, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw Error("{}: a translated file can no longer be read", folder_);
  return bytes;
}

void KeptFiles::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = files_.find(name); found != files_.end()) erase(found);
}

size_t KeptFiles::size() const {
  const std::lock_guard lock(mutex_);
  return files_.size();
}

void KeptFiles::remove_expired() {
  const auto now = std::chrono::steady_clock::now();
  for (auto file = files_.begin(); file != files_.end();) {
    const auto next = std::next(file);
    if (file->second.until <= now) erase(file);
    file = next;
  }
}

void KeptFiles::erase(Files::iterator file) {
  std::error_code ignored;
  std::filesystem::remove(path(file->first), ignored);
  bytes_ -= file->second.bytes;
  files_.erase(file);
}

std::string KeptFiles::path(std::string_view name) const { return folder_ + "/" + std::string(name); }

// Sleeps until the next file is due.
void KeptFiles::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    remove_expired();
    auto next = std::chrono::steady_clock::now() + std::chrono::hours(1);
    for (const auto& [name, file] : files_) next = std::min(next, file.until);
    const size_t before = files_.size();
    changed_.wait_until(lock, stop, next, [&] { return files_.size() != before; });
  }
}

}  // namespace dragoman::internal
