// Where a request begins and ends. If a proxy in front of us could split the bytes into requests differently, one
// client could smuggle requests into another's connection. So anything not exactly as in RFC 9112 is refused, even
// where it allows leniency:
//
//   - lines end in CRLF and in nothing else; no NUL or other control character; no folded header
//   - a header's name is a token right before its colon
//   - a body has one Content-Length of only digits, or, in HTTP/1.1, "Transfer-Encoding: chunked"; never both
//   - chunks have no extensions, and no trailers after them
//   - HTTP/1.1 has one Host
//
// Nothing here depends on where reads cut the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dragoman::internal {

// Why bytes are refused as a request, with the status to answer; the connection cannot be used further.
class FramingError : public std::runtime_error {
 public:
  FramingError(int status, const std::string& sentence) : std::runtime_error(sentence), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// Finds the end of a request's head: the bytes up to the first empty line.
class HeadScan {
 public:
  explicit HeadScan(size_t limit) : limit_(limit) {}

  // The size of the head that `bytes` begin with, the empty line included; none while it is not whole. `bytes` are
  // those of the last call and more.
  std::optional<size_t> end(std::string_view bytes);
  bool begun() const { return seen_ > 0; }

 private:
  void take(char c);

  size_t limit_;
  size_t seen_ = 0;
  size_t line_ = 0;  // where the line begins that `seen_` stands in
  bool after_cr_ = false;
};

inline constexpr size_t max_request_line = 8 << 10, max_headers = 100;

struct Framing {
  bool http_1_1 = true;
  bool keep_alive = true;
  bool chunked = false;
  std::optional<uint64_t> length = {};  // neither: no body
  bool expects_continue = false;
};

Framing check_head(std::string_view head);

// Follows a body in chunks to its end.
class ChunkScan {
 public:
  void limit(uint64_t bytes) { max_ = bytes; }  // of data
  // How many of these bytes, which come after those of the last call, belong to the body.
  size_t read(std::string_view bytes);
  bool done() const { return state_ == State::done; }
  // How many of the last bytes belong to a chunk's frame that is not whole yet.
  size_t unfinished() const { return unfinished_; }

 private:
  enum class State { size, size_end, data, data_cr, data_lf, last_cr, last_lf, done };
  void read_size(char c);
  void expect(char c, char wanted, State next);

  State state_ = State::size;
  uint64_t size_ = 0, max_ = std::numeric_limits<uint64_t>::max();
  int digits_ = 0;
  size_t unfinished_ = 0;
};

// A host with or without a port, as in Host; may be empty.
bool is_authority(std::string_view text);

}  // namespace dragoman::internal
