#include "base/bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

constexpr size_t read_block = 1 << 17;
constexpr std::string_view gzip_magic("\x1f\x8b", 2), zstd_magic("\x28\xb5\x2f\xfd", 4);
constexpr std::string_view pzstd_magic("\x50\x2a\x4d\x18", 4);  // a frame to skip, with which pzstd begins

// Formats that cannot be read as text, told by their first bytes, and what to do with such a file.
struct RefusedFormat {
  std::string_view magic;
  const char* advice;
};
constexpr RefusedFormat refused_formats[] = {
    {{"\xfd"
      "7zXZ",
      5},
     "is compressed with xz: decompress it, or compress it with gzip or Zstandard"},
    {{"\xff\xfe", 2}, "is UTF-16: convert it to UTF-8"},
    {{"\xfe\xff", 2}, "is UTF-16: convert it to UTF-8"}};

constexpr const char* bzip2_advice =
    "is compressed with bzip2: decompress it, or compress it with gzip or Zstandard";

// A file or standard input, with its first bytes available for a look.
class PlainBytes : public ByteSource {
 public:
  explicit PlainBytes(const std::string& path)
      : file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw Error("cannot be opened: {}", std::strerror(errno));
  }
  ~PlainBytes() override {
    if (file_ != STDIN_FILENO) close(file_);
  }
  PlainBytes(const PlainBytes&) = delete;
  PlainBytes& operator=(const PlainBytes&) = delete;

  // Waits for no more bytes than it needs: input may be typed.
  bool starts_with(std::string_view magic) {
    while (ahead_.size() < magic.size() && magic.starts_with(ahead_)) {
      char byte;
      if (ended_ || read_file(&byte, 1) == 0) return false;
      ahead_ += byte;
    }
    return std::string_view(ahead_).starts_with(magic);
  }

  size_t read(char* to, size_t size) override {
    const size_t known = std::min(size, ahead_.size());
    if (known == 0) return ended_ ? 0 : read_file(to, size);
    std::memcpy(to, ahead_.data(), known);
    ahead_.erase(0, known);
    return known;
  }

  bool ready() const override { return !ahead_.empty() || wait(0); }
  uint64_t position() const override { return position_ - ahead_.size(); }

 private:
  // Whether there is something to read, waiting up to this many milliseconds.
  bool wait(int milliseconds) const {
    pollfd watched = {.fd = file_, .events = POLLIN, .revents = 0};
    return poll(&watched, 1, milliseconds) > 0;
  }

  size_t read_file(char* to, size_t size) {
    while (!wait(200)) {
      if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped while waiting for input");
    }
    ssize_t n;
    do {
      n = ::read(file_, to, size);
    } while (n < 0 && errno == EINTR);
    if (n < 0) throw Error("cannot be read: {}", std::strerror(errno));
    position_ += static_cast<uint64_t>(n);
    ended_ = n == 0;
    return static_cast<size_t>(n);
  }

  int file_;
  std::string ahead_;
  uint64_t position_ = 0;
  bool ended_ = false;  // a terminal would go on
};

// What the two decoders share: a block of compressed bytes, and how much of it has been decoded.
class CompressedBytes : public ByteSource {
 public:
  explicit CompressedBytes(std::unique_ptr<ByteSource> file) : file_(std::move(file)), in_(read_block) {}

  bool ready() const override { return begin_ < end_ || file_->ready(); }
  uint64_t position() const override { return file_->position() - (end_ - begin_); }

 protected:
  // Whether there is anything left to decode.
  bool refill() {
    if (begin_ < end_) return true;
    begin_ = 0;
    end_ = file_->read(in_.data(), in_.size());
    return end_ > 0;
  }
  [[noreturn]] static void cut_off(const char* format) {
    throw Error("the {} data end too early: the file is truncated", format);
  }
  [[noreturn]] static void damaged(const char* format, const char* reason) {
    throw Error("the {} data are damaged ({})", format, reason);
  }

  std::unique_ptr<ByteSource> file_;
  std::vector<char> in_;
  size_t begin_ = 0, end_ = 0;
};

class GzipBytes : public CompressedBytes {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> file) : CompressedBytes(std::move(file)) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();  // 16: gzip's header, not zlib's
  }
  ~GzipBytes() override { inflateEnd(&stream_); }

  size_t read(char* to, size_t size) override {
    size = std::min(size, read_block);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (between_members_ && !next_member()) return 0;
      if (!refill()) cut_off("gzip");
      inflate_some();
    }
    return size - stream_.avail_out;
  }

 private:
  bool next_member() {
    while (refill() && in_[begin_] == '\0' && members_ > 0) ++begin_;
    if (!refill()) return false;
    between_members_ = false;
    inflateReset(&stream_);
    return true;
  }

  void inflate_some() {
    stream_.next_in = reinterpret_cast<Bytef*>(in_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    if (result == Z_STREAM_END) {
      between_members_ = true;
      ++members_;
    } else if (result != Z_OK) {
      damaged("gzip", stream_.msg ? stream_.msg : "unknown reason");
    }
  }

  z_stream stream_ = {};
  bool between_members_ = true;
  int64_t members_ = 0;
};

class ZstdBytes : public CompressedBytes {
 public:
  explicit ZstdBytes(std::unique_ptr<ByteSource> file)
      : CompressedBytes(std::move(file)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
    // As `zstd --long=31` makes them; the default is 27.
    const int largest_window = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, largest_window);
  }
  ~ZstdBytes() override { ZSTD_freeDStream(stream_); }

  size_t read(char* to, size_t size) override {
    ZSTD_outBuffer out = {to, size, 0};
    while (out.pos == 0) {
      // What the decoder still holds comes out without more input. Only a full buffer can have left something.
      if (!refill() && !(in_frame_ && more_inside_)) {
        if (in_frame_) cut_off("Zstandard");
        return 0;
      }
      ZSTD_inBuffer in = {in_.data(), end_, begin_};
      const size_t result = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(result)) damaged("Zstandard", ZSTD_getErrorName(result));
      begin_ = in.pos;
      in_frame_ = result != 0;
      more_inside_ = out.pos == size;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool in_frame_ = false, more_inside_ = false;
};

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<PlainBytes> file) {
  if (file->starts_with(gzip_magic)) return std::make_unique<GzipBytes>(std::move(file));
  if (file->starts_with(zstd_magic) || file->starts_with(pzstd_magic))
    return std::make_unique<ZstdBytes>(std::move(file));
  return file;
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return decompressed(std::make_unique<PlainBytes>(path));
}

std::unique_ptr<ByteSource> open_text(const std::string& path) {
  auto file = std::make_unique<PlainBytes>(path);
  for (const auto& [magic, advice] : refused_formats)
    if (file->starts_with(magic)) throw Error("{}", advice);
  for (const char level : {'1', '2', '3', '4', '5', '6', '7', '8', '9'})
    if (file->starts_with(std::string("BZh") + level + "1AY&SY")) throw Error("{}", bzip2_advice);
  return decompressed(std::move(file));
}

}  // namespace dragoman::internal
