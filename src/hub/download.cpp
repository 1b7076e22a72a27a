#include "hub/download.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/parse_number.h"
#include "base/signals.h"
#include "hub/sha256.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// Another attempt may succeed.
class RetryableError : public Error {
 public:
  explicit RetryableError(const std::string& reason, double seconds = 0) : Error(reason), wait(seconds) {}
  const double wait;  // that the server asks for
};

std::string file_name(const FileToGet& file) { return fs::path(file.path).filename().string(); }

// The validator for requesting the rest of the same file. A weak ETag does not promise the same bytes.
std::string tag_of(const HttpHead& head) {
  const std::string etag = head.header("etag");
  return etag.size() > 2 && etag.starts_with('"') ? etag : head.header("last-modified");
}

// Hugging Face's hub sends it for large files: "X-Linked-ETag: "<64 hexadecimal digits>"".
std::string linked_sha256(const HttpHead& head) {
  const auto found = head.linked.find("x-linked-etag");
  std::string text = found == head.linked.end() ? head.header("x-linked-etag") : found->second;
  std::erase(text, '"');
  const bool is_one = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
  return is_one ? text : "";
}

// The size of the whole file, of "bytes 100-199/300". Nothing if that is another range than the one from `begin`, or
// does not say it.
std::optional<uint64_t> whole_size(std::string_view range, uint64_t begin) {
  if (!range.starts_with(fmt::format("bytes {}-", begin))) return {};
  return parse_number<uint64_t>(range.substr(range.find('/') + 1));
}

// The result of a status without contents.
std::optional<DownloadResult> result_of(int status, const PartFile& part) {
  switch (status) {
    case 304:  // unchanged since it was downloaded
      if (!part.is_whole()) return {};
      return DownloadResult::file;
    case 401:
    case 403:
      return DownloadResult::denied;
    case 404:
    case 410:
      return DownloadResult::missing;
    default:
      return {};
  }
}

bool is_passing(int status) { return status == 408 || status == 425 || status == 429 || status >= 500; }

}  // namespace

std::string megabytes(uint64_t bytes) {
  const double count = static_cast<double>(bytes) * 1e-6;
  return fmt::format("{:.{}f} MB", count, count < 10 ? 1 : 0);
}

// One request for a file, or for the rest of it.
class Downloader::Attempt {
 public:
  Attempt(Downloader& downloader, const FileToGet& file, PartFile& part)
      : downloader_(downloader), file_(file), part_(part), first_(part.size()), sha256_(file.sha256) {}

  DownloadResult run() {
    const HttpHead head = downloader_.http_.get(
        request(), [this](const HttpHead& h) { return see_head(h); },
        [this](std::string_view data) { take(data); });
    if (const auto result = result_of(head.status, part_)) {
      if (*result == DownloadResult::missing) part_.discard();  // of an earlier version
      return *result;
    }
    check_size();
    check_sum();
    part_.finish();
    return DownloadResult::file;
  }

 private:
  HttpRequest request() const {
    HttpRequest request = {.url = file_.url, .token = file_.token};
    const bool is_date = !part_.tag().starts_with('"');
    if (part_.is_whole()) {
      request.headers = {(is_date ? "If-Modified-Since: " : "If-None-Match: ") + part_.tag()};
    } else if (part_.is_resumable()) {
      request.headers = {fmt::format("Range: bytes={}-", part_.size()), "If-Range: " + part_.tag()};
    }
    return request;
  }

  // Whether the contents are wanted.
  bool see_head(const HttpHead& head) {
    if (sha256_.empty()) sha256_ = linked_sha256(head);
    if (head.status != 200 && head.status != 206) {
      check_status(head);
      return false;
    }
    const bool goes_on = head.status == 206 && part_.is_resumable();
    if (goes_on) check_tag(head);
    total_ = head.status == 206 ? size_of_whole(head, goes_on ? part_.size() : 0)
                                : head.number("content-length").value_or(0);
    if (goes_on) {
      part_.go_on();
    } else {
      part_.start(tag_of(head));
    }
    check_room();
    return true;
  }

  void check_status(const HttpHead& head) const {
    if (head.status == 416) return check_nothing_is_left(head);
    if (is_passing(head.status))
      throw RetryableError(fmt::format("the server answers with HTTP {}", head.status),
                           static_cast<double>(head.number("retry-after").value_or(0)));
    if (!result_of(head.status, part_))
      throw Error("cannot download {}: the server answers with HTTP {}", file_.url, head.status);
  }

  // All bytes may be here: the last attempt was stopped after them, before the end of its checks.
  void check_nothing_is_left(const HttpHead& head) const {
    if (part_.is_resumable() && head.header("content-range") == fmt::format("bytes */{}", part_.size()))
      return check_tag(head);
    part_.discard();
    throw RetryableError("the file on the server has become shorter");
  }

  // A server that does not know If-Range sends the rest of another file.
  void check_tag(const HttpHead& head) const {
    const std::string tag = tag_of(head);
    if (tag.empty() || tag == part_.tag()) return;
    part_.discard();
    throw RetryableError("the file on the server has changed");
  }

  // Of an answer that begins at this byte; it may end before the file does.
  uint64_t size_of_whole(const HttpHead& head, uint64_t begin) const {
    if (const auto size = whole_size(head.header("content-range"), begin)) return *size;
    part_.discard();
    throw RetryableError("the server returned the wrong byte range");
  }

  void check_room() const {
    const uint64_t limit = std::min(file_.max_bytes, file_.size.value_or(file_.max_bytes));
    if (total_ > limit)
      throw Error("cannot download {}: it has {}, but at most {} were expected", file_.url, megabytes(total_),
                  megabytes(limit));
    std::error_code none;
    const uint64_t room = fs::space(fs::path(file_.path).parent_path(), none).available;
    if (!none && total_ > part_.size() && total_ - part_.size() > room)
      throw Error("{} takes {} more, but its disk has only {} left: make room, or set XDG_CACHE_HOME",
                  part_.part(), megabytes(total_ - part_.size()), megabytes(room));
  }

  void take(std::string_view data) {
    if (part_.size() + data.size() > file_.max_bytes)
      throw Error("cannot download {}: it has more than {}", file_.url, megabytes(file_.max_bytes));
    part_.append(data);
    show();
  }

  void show() {
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(50)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double speed =
        static_cast<double>(part_.size() - std::min(first_, part_.size())) * 1e-6 / std::max(seconds, 1e-3);
    const double whole = static_cast<double>(total_);
    downloader_.status_.show(fmt::format("{}  {}{}, {:.1f} MB/s", file_name(file_), megabytes(part_.size()),
                                         total_ > 0 ? " of " + megabytes(total_) : "", speed),
                             total_ > 0 ? static_cast<double>(part_.size()) / whole : -1);
  }

  void check_size() const {
    if (total_ > 0 && part_.size() < total_)
      throw RetryableError(fmt::format("the connection was cut after {}", megabytes(part_.size())));
    if (file_.size && part_.size() != *file_.size) {
      const uint64_t size = part_.size();
      part_.discard();
      throw Error("cannot download {}: it has {} bytes, but should have {}: try again later", file_.url, size,
                  *file_.size);
    }
  }

  void check_sum() const {
    if (sha256_.empty()) return;
    const std::string sum = sha256_of_file(part_.part());
    if (sum == sha256_) return;
    part_.discard();
    if (first_ > 0) throw RetryableError("the resumed download does not match its SHA-256");
    throw Error("cannot download {}: its SHA-256 is {}, but should be {}: try again later", file_.url, sum,
                sha256_);
  }

  using Clock = std::chrono::steady_clock;

  Downloader& downloader_;
  const FileToGet& file_;
  PartFile& part_;
  const uint64_t first_;  // bytes that were there before
  std::string sha256_;
  uint64_t total_ = 0;  // 0: unknown
  Clock::time_point begun_ = Clock::now(), shown_ = {};
};

DownloadResult Downloader::repeat_until_here(const FileToGet& file) {
  PartFile part(file.path);
  double wait = policy_.first_wait;
  uint64_t furthest = part.size();
  for (int attempt = 1;; ++attempt) {
    Attempt current(*this, file, part);
    double asked = 0;
    std::string reason;
    try {
      return current.run();
    } catch (const RetryableError& failure) {
      std::tie(reason, asked) = std::pair(failure.what(), failure.wait);
    } catch (const ConnectionError& failure) {
      reason = failure.what();
    }
    if (part.size() > furthest)
      std::tie(furthest, attempt, wait) = std::tuple(part.size(), 1, policy_.first_wait);
    if (attempt >= policy_.attempts || asked > policy_.max_wait)
      throw Error(
          "cannot download {}: {}{}{}", file.url, reason,
          asked > policy_.max_wait ? fmt::format(", and asks to wait {:.0f} seconds", asked) : "",
          part.is_resumable() ? "; the partial download is kept; run the same command to resume" : "");
    status_.clear();
    log_warning("{}: {}; trying again", file_name(file), reason);
    wait_unless_stopped(std::max(wait, asked));
    wait *= 2;
  }
}

DownloadResult Downloader::get(const FileToGet& file) {
  try {
    const DownloadResult got = repeat_until_here(file);
    status_.clear();
    if (got == DownloadResult::file) bytes_ += fs::file_size(file.path);
    return got;
  } catch (const Stopped& stopped) {
    status_.clear();
    throw Stopped(stopped.signal, "stopped: the partial download is kept; run the same command to resume");
  } catch (...) {
    status_.clear();
    throw;
  }
}

}  // namespace dragoman::internal
