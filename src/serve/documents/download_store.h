// DownloadStore: translated files until they are fetched, in a temporary folder, under names that cannot be guessed.
//
//   const auto place = files.reserve(upload.size(), client);   // before the work: refused where there is no space
//   const std::string name = files.keep(*place, translation);  // after it
//   files.find(name);
//
// All of them are deleted after a time, and with the object. Their number and size are bounded; where there is no
// space, those that were fetched go first. Every member function may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/scratch_folder.h"

namespace dragoman::internal {

struct DownloadStoreSettings {
  size_t files = 1000,
         bytes = size_t{1} << 30;  // at most; of one client a quarter, besides what it has fetched
  std::chrono::milliseconds time = std::chrono::minutes(30);
  std::chrono::milliseconds time_to_ask{10'000};  // in which clients ask for a file that is done
};

// A file's name as part of a URL's path and of a header: ASCII letters, digits, and ._- in their places, else "_".
std::string plain_file_name(std::string_view name);

class DownloadStore {
 public:
  // A file that is yet to be made: its space is free again if that does not happen. The files outlive it.
  class Place {
   public:
    Place(DownloadStore& files, std::string name) : files_(files), name_(std::move(name)) {}
    ~Place() { files_.release(name_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    const std::string& name() const { return name_; }

   private:
    DownloadStore& files_;
    const std::string name_;
  };

  explicit DownloadStore(const DownloadStoreSettings& settings = {});
  ~DownloadStore();
  DownloadStore(const DownloadStore&) = delete;
  DownloadStore& operator=(const DownloadStore&) = delete;

  // For the translation of a file of this size. Throws a ServeError where there is no space: of status 503, or 429
  // where it is the client that has too many files.
  std::shared_ptr<Place> reserve(size_t bytes, const std::string& client);
  // The name to fetch it by.
  std::string keep(const Place& place, std::string_view bytes);
  // Its bytes. `fetches`: its client has them now.
  std::optional<std::string> find(std::string_view name, bool fetches = true);
  size_t size() const;  // in number, places among them
  std::chrono::milliseconds time() const { return settings_.time; }

  struct Left {
    size_t unfinished = 0, unfetched = 0;
  };
  // Waits until no file is being made, and those made last are fetched or their clients have had the time to ask. What
  // is left then, or at `until`, where no more are taken.
  Left wait(std::chrono::steady_clock::time_point until);

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { reserved, kept, fetched };
  struct File {
    std::string client;
    size_t bytes = 0;
    State state = State::reserved;
    Clock::time_point since = {};  // since when it is kept
  };
  using Files = std::map<std::string, File, std::less<>>;

  // Holding the lock:
  void check_share(size_t bytes, const std::string& client) const;
  bool make_room(size_t files, size_t bytes);  // false where there is not as much
  bool expired(const File& file) const;
  void remove_expired();
  void erase(Files::iterator file);

  void resize(const Place& place, size_t bytes);
  void release(std::string_view name);
  std::string path(std::string_view name) const;
  void run(const std::stop_token& stop);

  const DownloadStoreSettings settings_;
  std::optional<ScratchFolder> folder_;  // since the first file
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Files files_;
  size_t bytes_ = 0;  // of all files and places
  bool closed_ = false;
  std::jthread sweeper_;
};

}  // namespace dragoman::internal
