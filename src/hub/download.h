// Downloader: files from the network, whole and checked. A transfer that fails is repeated, from where it stopped if
// the server still has the same file, so that downloads finish even over a slow or unstable connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status_line.h"
#include "hub/http.h"
#include "hub/part_file.h"

namespace dragoman::internal {

inline constexpr uint64_t max_download_bytes = uint64_t{1} << 38;  // of one file: no model is larger

struct DownloadPolicy {
  HttpTimes times = {};
  int attempts = 5;       // in a row without progress
  double first_wait = 1;  // seconds before the second attempt, doubled for each further one
  double max_wait = 300;  // that a server may ask for
};

struct FileToGet {
  std::string url, path;
  std::string token = {};
  std::string sha256 = {};  // if it is known
  std::optional<uint64_t> size = {};
  uint64_t max_bytes = max_download_bytes;
};

enum class DownloadResult { file, missing, denied };

class Downloader {
 public:
  explicit Downloader(const DownloadPolicy& policy = {}) : policy_(policy), http_(policy.times) {}

  // Downloads the file to its path. An Error names the URL and what to do; a partial download is kept.
  DownloadResult get(const FileToGet& file);

  uint64_t bytes() const { return bytes_; }  // of all files, including those that were already there

 private:
  class Attempt;

  DownloadResult repeat_until_here(const FileToGet& file);

  DownloadPolicy policy_;
  Http http_;
  StatusLine status_;
  uint64_t bytes_ = 0;
};

// 301.2 MB.
std::string megabytes(uint64_t bytes);

}  // namespace dragoman::internal
