// ByteReader: the numbers and texts of a little-endian file, in order, each checked against the file's end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace dragoman::internal {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

class ByteReader {
 public:
  // The path is for messages.
  ByteReader(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }

  std::span<const std::byte> bytes(uint64_t size) {
    if (size > left())
      fail("is truncated or damaged: expected {} bytes at byte {}, found {}", size, at_, left());
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  std::string_view text(uint64_t size) {
    const std::span<const std::byte> all = bytes(size);
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }

  // Up to a line feed, which is consumed.
  std::string_view line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, left());
    const size_t size = rest.find('\n');
    if (size == rest.npos) fail("is truncated or damaged: the line at byte {} has no end", at_);
    at_ += size + 1;
    return rest.substr(0, size);
  }

  const std::string& path() const { return path_; }
  size_t position() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) const {
    throw Error("{} {}", path_, fmt::format(message, std::forward<Values>(values)...));
  }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace dragoman::internal
