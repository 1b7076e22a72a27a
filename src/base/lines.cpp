#include "base/lines.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/utf8.h"

namespace dragoman::internal {
namespace {

constexpr size_t line_block = 1 << 16;

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

// The length of the character at `at`, whose first byte is not ASCII; 0 if it is invalid.
size_t character_length(const unsigned char* at, size_t left) {
  const unsigned char first = at[0];
  const size_t length = length_of_character(first);
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(static_cast<char>(at[i]))) return 0;
  }
  const unsigned char second = at[1];
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool too_large = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// Whether eight bytes are all ASCII and none is 0.
bool is_plain(const unsigned char* at) {
  uint64_t eight;
  std::memcpy(&eight, at, 8);
  const uint64_t has_zero = (eight - 0x0101010101010101ULL) & ~eight;
  return ((eight | has_zero) & 0x8080808080808080ULL) == 0;
}

}  // namespace

struct LineReader::Stream {
  std::unique_ptr<ByteSource> bytes;
  bool ended = false;
};

LineReader::LineReader(const std::string& path) : path_(shown(path)), stream_(new Stream) {
  try {
    stream_->bytes = open_text(path);
  } catch (const Stopped&) {
    throw;
  } catch (const Error& error) {
    throw Error("{} {}", path_, error.what());
  }
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

uint64_t LineReader::bytes_read() const { return stream_->bytes->position(); }

bool LineReader::ready() {
  while (!find_line_end() && !stream_->ended) {
    if (!stream_->bytes->ready()) return false;
    fill();
  }
  return true;
}

bool LineReader::at_end() const { return stream_->ended && begin_ == buffer_.size(); }

// Whether the buffer has one, at scanned_.
bool LineReader::find_line_end() {
  scanned_ = std::min(buffer_.find('\n', scanned_), buffer_.size());
  return scanned_ < buffer_.size();
}

// Appends more of the file to the buffer; false at its end.
bool LineReader::fill() {
  if (stream_->ended) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const size_t old = buffer_.size();
  if (old > max_line_length) {
    throw Error("{}:{}: the line has more than {} MiB: is this a text file?", path_, number_ + 1,
                max_line_length >> 20);
  }
  buffer_.resize(old + line_block);  // no more: resizing writes zeros, and a pipe gives little at once
  try {
    buffer_.resize(old + stream_->bytes->read(buffer_.data() + old, buffer_.size() - old));
  } catch (const Stopped&) {
    throw;
  } catch (const Error& error) {
    throw Error("{}:{}: {}", path_, number_ + 1, error.what());
  }
  stream_->ended = buffer_.size() == old;
  return !stream_->ended;
}

bool LineReader::next(std::string_view& line) {
  while (!find_line_end() && fill()) {}
  if (begin_ == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_, scanned_ - begin_);
  begin_ = scanned_ = std::min(scanned_ + 1, buffer_.size());
  if (number_++ == 0 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

bool is_text(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  for (size_t left = bytes.size(); left > 0;) {
    size_t length = 1;
    if (left >= 8 && is_plain(at)) {
      length = 8;
    } else if (at[0] >= 0x80) {
      length = character_length(at, left);
    } else if (at[0] == 0) {
      length = 0;
    }
    if (length == 0) return false;
    at += length;
    left -= length;
  }
  return true;
}

std::filesystem::path uncompressed_name(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  return name.extension() == ".gz" || name.extension() == ".zst" ? name.stem() : name;
}

}  // namespace dragoman::internal
