// KeptFiles: translated files until they are fetched, in a temporary folder, under names that cannot be guessed.
//
// All of them are deleted after a time, and with the object. Their number and size are bounded. Every member function
// may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace dragoman::internal {

struct KeptFilesSettings {
  size_t files = 1000, bytes = size_t{1} << 30;  // at most
  std::chrono::milliseconds time = std::chrono::minutes(30);
};

// A file's name as part of a URL's path and of a header: ASCII letters, digits, and ._- in their places, else "_".
std::string plain_file_name(std::string_view name);

class KeptFiles {
 public:
  explicit KeptFiles(const KeptFilesSettings& settings = {});
  ~KeptFiles();
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  // The name to fetch it by. Throws a ServeError of status 503 where there is no space until others are deleted.
  std::string keep(std::string_view bytes);
  std::optional<std::string> find(std::string_view name) const;  // its bytes
  void remove(std::string_view name);
  size_t size() const;

 private:
  struct File {
    size_t bytes;
    std::chrono::steady_clock::time_point until;
  };
  using Files = std::map<std::string, File, std::less<>>;

  void reserve(size_t bytes);
  void remove_expired();  // this and erase: holding the lock
  void erase(Files::iterator file);
  std::string path(std::string_view name) const;
  void run(const std::stop_token& stop);

  const KeptFilesSettings settings_;
  std::string folder_;  // empty until the first file
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Files files_;
  size_t bytes_ = 0, reserved_ = 0;  // of all files; files that are being written
  std::jthread sweeper_;
};

}  // namespace dragoman::internal
