// ByteSource: what a file holds, decompressed where its first bytes say that it is gzip or Zstandard.
//
// The path "-" is standard input. Several gzip members or Zstandard frames in one file are one stream; zeros after
// the last gzip member are padding. Errors say what is wrong without the file's name, which the caller adds.
// A signal that asks to stop (base/signals.h) ends the wait for bytes: Stopped is thrown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace dragoman::internal {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes, at least one of them unless the stream has ended: then 0.
  virtual size_t read(char* to, size_t size) = 0;

  // Whether read() would return at once.
  virtual bool ready() const = 0;

  // How much of the file on disk has been read.
  virtual uint64_t position() const = 0;
};

std::unique_ptr<ByteSource> open_bytes(const std::string& path);

// The same. Throws an Error where it is compressed in another way, or UTF-16.
std::unique_ptr<ByteSource> open_text(const std::string& path);

}  // namespace dragoman::internal
