#include "http/framing.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

bool is_token_char(char c) {
  return is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_char); }

// Up to the next separator, which is taken off with it.
std::string_view next_part(std::string_view& text, std::string_view separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + separator.size()));
  return part;
}

[[noreturn]] void bad_framing(const char* sentence) { throw FramingError(400, sentence); }

class HeadCheck {
 public:
  void request_line(std::string_view line) {
    const std::string_view method = next_part(line, " "), target = next_part(line, " ");
    if (method.size() > 32 || !is_token(method)) bad_framing("the request line does not begin with a method");
    if (target.empty() || target.find('\t') != target.npos)
      bad_framing("the request line has no valid target");
    if (line != "HTTP/1.1" && line != "HTTP/1.0") {
      if (line.size() == 8 && line.starts_with("HTTP/"))
        throw FramingError(505, "only HTTP/1.1 and 1.0 are served");
      bad_framing("the request line does not end in a version of HTTP");
    }
    framing_.http_1_1 = line == "HTTP/1.1";
    framing_.keep_alive = framing_.http_1_1;
  }

  void header(std::string_view line) {
    if (++headers_ > max_headers) throw FramingError(431, "the request has too many headers");
    const size_t colon = line.find(':');
    if (colon == line.npos) bad_framing("a header has no colon");
    const std::string_view name = line.substr(0, colon), value = stripped(line.substr(colon + 1));
    if (!is_token(name))
      bad_framing("a header's name is not a token right before its colon, or the header is folded");
    const auto named = [&](const char* other) { return same_ignoring_case(name, other); };
    if (named("host")) host(value);
    if (named("content-length")) content_length(value);
    if (named("transfer-encoding")) transfer_encoding(value);
    if (named("connection")) connection(value);
    if (named("expect")) expect(value);
  }

  Framing finish() {
    if (framing_.chunked && framing_.length)
      bad_framing("the request has both Content-Length and Transfer-Encoding");
    if (framing_.chunked && !framing_.http_1_1) bad_framing("HTTP/1.0 has no Transfer-Encoding");
    if (framing_.http_1_1 && !host_) bad_framing("the request has no Host");
    if (close_) framing_.keep_alive = false;
    return framing_;
  }

 private:
  void host(std::string_view value) {
    if (std::exchange(host_, true)) bad_framing("the request has more than one Host");
    if (!is_authority(value)) bad_framing("Host is not a host with or without a port");
  }

  void content_length(std::string_view value) {
    if (framing_.length) bad_framing("the request has more than one Content-Length");
    if (value.empty() || value.size() > 18 || !std::ranges::all_of(value, is_digit))
      bad_framing("Content-Length must be a number of at most 18 digits");
    framing_.length = 0;
    for (const char c : value) framing_.length = *framing_.length * 10 + static_cast<uint64_t>(c - '0');
  }

  void transfer_encoding(std::string_view value) {
    if (framing_.chunked) bad_framing("the request has more than one Transfer-Encoding");
    if (!same_ignoring_case(value, "chunked"))
      bad_framing("Transfer-Encoding must be chunked, and nothing else");
    framing_.chunked = true;
  }

  void connection(std::string_view value) {
    while (!value.empty()) {
      const std::string_view option = stripped(next_part(value, ","));
      if (same_ignoring_case(option, "close")) close_ = true;
      if (same_ignoring_case(option, "keep-alive")) framing_.keep_alive = true;
    }
  }

  void expect(std::string_view value) {
    if (!same_ignoring_case(value, "100-continue")) throw FramingError(417, "Expect must be 100-continue");
    framing_.expects_continue = true;
  }

  Framing framing_;
  size_t headers_ = 0;
  bool host_ = false, close_ = false;
};

}  // namespace

bool is_authority(std::string_view text) {
  std::string_view host = text;
  if (const size_t colon = text.rfind(':'); colon != text.npos && text.find(']', colon) == text.npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.size() > 5 || !std::ranges::all_of(port, is_digit) || colon == 0) return false;
    host = text.substr(0, colon);
  }
  if (host.starts_with('[')) {
    const auto of_address = [](char c) { return hex_digit(c) >= 0 || c == ':' || c == '.'; };
    return host.size() > 2 && host.ends_with(']') &&
           std::ranges::all_of(host.substr(1, host.size() - 2), of_address);
  }
  return std::ranges::all_of(host, [](char c) {
    return is_alphanumeric(c) || std::string_view("-._~!$&'()*+,;=%").find(c) != std::string_view::npos;
  });
}

void HeadScan::take(char c) {
  if (line_ == 0 && seen_ == std::min(limit_, max_request_line))
    throw FramingError(414, "the request line is too long");
  if (seen_ == limit_) throw FramingError(431, "the request's headers are too long");
  if (after_cr_ && c != '\n') bad_framing("a CR is not followed by LF");
  if (!after_cr_ && c == '\n') bad_framing("a line ends in a bare LF, not in CRLF");
  if (is_control(c) && c != '\t' && c != '\r' && c != '\n')
    bad_framing("the request's head has a control character");
  after_cr_ = c == '\r';
  ++seen_;
}

std::optional<size_t> HeadScan::end(std::string_view bytes) {
  while (seen_ < bytes.size()) {
    const char c = bytes[seen_];
    take(c);
    if (c != '\n') continue;
    if (seen_ == line_ + 2) return seen_;
    line_ = seen_;
  }
  return {};
}

Framing check_head(std::string_view head) {
  HeadCheck check;
  check.request_line(next_part(head, "\r\n"));
  while (!head.starts_with("\r\n")) check.header(next_part(head, "\r\n"));
  return check.finish();
}

void ChunkScan::read_size(char c) {
  if (c == '\r' && digits_ > 0) {
    if (size_ > max_) throw FramingError(413, "the request's body is too large");
    max_ -= size_;
    state_ = State::size_end;
    digits_ = 0;
    return;
  }
  const int digit = hex_digit(c);
  if (digit < 0) bad_framing(c == ';' ? "a chunk has an extension" : "a chunk does not begin with its size");
  if (++digits_ > 8) throw FramingError(413, "a chunk is too large");
  size_ = size_ * 16 + static_cast<uint64_t>(digit);
}

void ChunkScan::expect(char c, char wanted, State next) {
  if (c != wanted) {
    if (state_ == State::last_cr) bad_framing("there are trailers after the last chunk");
    bad_framing("a chunk or its size does not end in CRLF");
  }
  state_ = next;
}

size_t ChunkScan::read(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size() && state_ != State::done) {
    const char c = bytes[at];
    switch (state_) {
      case State::size:
        read_size(c);
        break;
      case State::size_end:
        expect(c, '\n', size_ == 0 ? State::last_cr : State::data);
        break;
      case State::data: {
        const size_t n = static_cast<size_t>(std::min<uint64_t>(size_, bytes.size() - at));
        size_ -= n;
        at += n;
        if (size_ == 0) state_ = State::data_cr;
        continue;
      }
      case State::data_cr:
        expect(c, '\r', State::data_lf);
        break;
      case State::data_lf:
        expect(c, '\n', State::size);
        break;
      case State::last_cr:
        expect(c, '\r', State::last_lf);
        break;
      case State::last_lf:
        expect(c, '\n', State::done);
        break;
      case State::done:
        break;
    }
    ++at;
    unfinished_ = state_ == State::data || state_ == State::done ? 0 : unfinished_ + 1;
  }
  return at;
}

}  // namespace dragoman::internal
