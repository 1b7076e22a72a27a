#include "serve/documents/download_store.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/ascii.h"
#include "base/error.h"
#include "serve/route.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

constexpr size_t longest_name = 300;
constexpr size_t share = 4;  // one client's is the whole by this
constexpr size_t growth =
    2;  // of a translation over its source, as scripts take more or fewer bytes a letter

}  // namespace

std::string plain_file_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, longest_name))
    plain += is_alphanumeric(c) || c == '.' || c == '-' ? c : '_';
  const size_t first = std::min(plain.find_first_not_of('.'), plain.size());
  return plain.substr(first).empty() ? "file" : plain.substr(first);
}

DownloadStore::DownloadStore(const DownloadStoreSettings& settings)
    : settings_(settings), sweeper_([this](const std::stop_token& stop) { run(stop); }) {}

DownloadStore::~DownloadStore() {
  sweeper_.request_stop();
  sweeper_.join();
}

std::shared_ptr<DownloadStore::Place> DownloadStore::reserve(size_t bytes, const std::string& client) {
  bytes = std::min(growth * bytes, settings_.bytes);
  auto place = std::make_shared<Place>(*this, random_hex(16));
  const std::lock_guard lock(mutex_);
  if (closed_) throw ServeError(503, "the server is stopping: try again", {{"retry-after", "1"}});
  remove_expired();
  check_share(bytes, client);
  if (!make_room(1, bytes))
    throw ServeError(503, "too many translated files are waiting to be downloaded: try again later",
                     {{"retry-after", "60"}});
  if (!folder_) folder_.emplace("files");
  files_.insert({place->name(), {.client = client, .bytes = bytes}});
  bytes_ += bytes;
  return place;
}

void DownloadStore::check_share(size_t bytes, const std::string& client) const {
  size_t number = 0;
  for (const auto& [name, file] : files_) {
    if (file.client != client || file.state == State::fetched) continue;
    ++number;
    bytes += file.bytes;
  }
  if (number > 0 &&
      (number >= std::max<size_t>(settings_.files / share, 1) || bytes > settings_.bytes / share))
    throw ServeError(429,
                     "too many of your files are being translated or wait to be fetched: fetch them first",
                     {{"retry-after", "60"}});
}

bool DownloadStore::make_room(size_t files, size_t bytes) {
  while (files_.size() + files > settings_.files || bytes_ + bytes > settings_.bytes) {
    auto oldest = files_.end();
    for (auto file = files_.begin(); file != files_.end(); ++file) {
      if (file->second.state != State::fetched) continue;
      if (oldest == files_.end() || file->second.since < oldest->second.since) oldest = file;
    }
    if (oldest == files_.end()) return false;
    erase(oldest);
  }
  return true;
}

std::string DownloadStore::keep(const Place& place, std::string_view bytes) {
  resize(place, bytes.size());
  std::ofstream file(path(place.name()), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error("{}: cannot write a translated file: free some disk space", folder_->path());
  const std::lock_guard lock(mutex_);
  File& kept = files_.find(place.name())->second;
  kept.state = State::kept;
  kept.since = Clock::now();
  changed_.notify_all();
  return place.name();
}

void DownloadStore::resize(const Place& place, size_t bytes) {
  const std::lock_guard lock(mutex_);
  File& file = files_.find(place.name())->second;
  if (bytes > file.bytes && !make_room(0, bytes - file.bytes))
    throw ServeError(503, "there is no space for the translated file: try again later",
                     {{"retry-after", "60"}});
  bytes_ = bytes_ - file.bytes + bytes;
  file.bytes = bytes;
}

// The lock is held only until the file is open: it can then be read even if it is deleted.
std::optional<std::string> DownloadStore::find(std::string_view name, bool fetches) {
  std::ifstream file;
  size_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end() || found->second.state == State::reserved || expired(found->second))
      return std::nullopt;
    file.open(path(name), std::ios::binary);
    size = found->second.bytes;
    if (fetches) found->second.state = State::fetched;
    changed_.notify_all();
  }
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw Error("{}: a translated file can no longer be read", folder_->path());
  return bytes;
}

void DownloadStore::release(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found != files_.end() && found->second.state == State::reserved) erase(found);
  changed_.notify_all();
}

size_t DownloadStore::size() const {
  const std::lock_guard lock(mutex_);
  return files_.size();
}

DownloadStore::Left DownloadStore::wait(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto now = Clock::now();
    Left left;
    bool waits = false;
    auto next = until;
    for (const auto& [name, file] : files_) {
      left.unfinished += file.state == State::reserved;
      left.unfetched += file.state == State::kept;
      const bool asked_for = file.state == State::kept && file.since + settings_.time_to_ask > now;
      waits = waits || asked_for || file.state == State::reserved;
      if (asked_for) next = std::min(next, file.since + settings_.time_to_ask);
    }
    closed_ = !waits || now >= until;
    if (closed_) return left;
    changed_.wait_until(lock, next);
  }
}

bool DownloadStore::expired(const File& file) const {
  return file.state != State::reserved && file.since + settings_.time <= Clock::now();
}

void DownloadStore::remove_expired() {
  for (auto file = files_.begin(); file != files_.end();) {
    const auto next = std::next(file);
    if (expired(file->second)) erase(file);
    file = next;
  }
}

void DownloadStore::erase(Files::iterator file) {
  std::error_code ignored;
  std::filesystem::remove(path(file->first), ignored);
  bytes_ -= file->second.bytes;
  files_.erase(file);
}

std::string DownloadStore::path(std::string_view name) const {
  return folder_->path() + "/" + std::string(name);
}

// Sleeps until the next file is due. One that is kept meanwhile is due later than a whole time from now.
void DownloadStore::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    remove_expired();
    auto next = Clock::now() + settings_.time;
    for (const auto& [name, file] : files_)
      if (file.state != State::reserved) next = std::min(next, file.since + settings_.time);
    changed_.wait_until(lock, stop, next, [] { return false; });
  }
}

}  // namespace dragoman::internal
