#include "http/beast/request_reader.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/ascii.h"
#include "base/lines.h"
#include "http/framing.h"
#include "http/target.h"

namespace dragoman::internal {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::string_view;

// Header values are bytes without an encoding. If they are not UTF-8, they are read as Latin-1, as HTTP once had it,
// so that all text in a request is UTF-8.
std::string header_text(std::string_view value) {
  if (is_text(value)) return std::string(value);
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xc0 | byte >> 6);
    text += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
  }
  return text;
}

}  // namespace

class RequestReader::Parser : public beast::http::basic_parser<true> {
 public:
  Parser(size_t header_bytes, IncomingRequest& request) : scan(header_bytes), request_(request) {
    header_limit(static_cast<uint32_t>(header_bytes + 1));
    body_limit(boost::none);  // the connection and ChunkScan keep it
    eager(true);
  }

  HeadScan scan;
  ChunkScan chunks;
  Framing framing;
  std::string target;
  size_t scanned = 0;  // of the bytes that Beast has not taken
  bool head_done = false, empty_line_skipped = false;

 private:
  void on_request_impl(beast::http::verb, string_view method, string_view text, int, error_code&) override {
    request_.head_only = method == "HEAD";
    request_.method = request_.head_only ? string_view("GET") : method;
    target = text;
  }
  void on_field_impl(beast::http::field, string_view name, string_view value, error_code& error) override {
    if (is_header_done()) {
      error = beast::http::error::bad_field;  // a trailer, which ChunkScan refuses before
      return;
    }
    request_.headers.emplace_back(in_lower_case({name.data(), name.size()}),
                                  header_text({value.data(), value.size()}));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>& length, error_code&) override {
    constexpr uint64_t trusted = 64 << 10;  // a larger body takes memory as it comes
    request_.body.reserve(static_cast<size_t>(std::min(length.value_or(0), trusted)));
  }
  size_t on_body_impl(string_view bytes, error_code&) override {
    request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, string_view extensions, error_code& error) override {
    if (!extensions.empty()) error = beast::http::error::bad_chunk_extension;
  }
  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code& error) override {
    return on_body_impl(bytes, error);
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  IncomingRequest& request_;
};

RequestReader::RequestReader(size_t header_bytes) : header_bytes_(header_bytes) { reset(); }
RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  request_ = {};
  parser_ = std::make_unique<Parser>(header_bytes_, request_);
}

bool RequestReader::http_1_1() const { return parser_->framing.http_1_1; }
bool RequestReader::keep_alive() const { return parser_->framing.keep_alive; }
bool RequestReader::expects_continue() const { return parser_->framing.expects_continue; }
bool RequestReader::body_follows() const { return parser_->head_done && !parser_->is_done(); }
bool RequestReader::whole() const { return parser_->head_done && parser_->is_done(); }
bool RequestReader::begun() const { return parser_->head_done || parser_->scan.begun(); }
std::optional<uint64_t> RequestReader::content_length() const { return parser_->framing.length; }
void RequestReader::limit_body(size_t bytes) { parser_->chunks.limit(bytes); }

RequestReader::Progress RequestReader::read(std::string_view bytes, size_t& taken) {
  taken = 0;
  try {
    if (!parser_->head_done) return read_head(bytes, taken);
    if (parser_->is_done()) return Progress::whole;
    return bytes.empty() ? Progress::more : read_body(bytes, taken);
  } catch (const FramingError& error) {
    refusal_ = {error.status(), error.what()};
    return Progress::refused;
  }
}

RequestReader::Progress RequestReader::read_head(std::string_view bytes, size_t& taken) {
  std::optional<size_t> end = parser_->scan.end(bytes);
  if (end == 2 &&
      !std::exchange(parser_->empty_line_skipped, true)) {  // some end a body with a line of its own
    taken = 2;
    parser_->scan = HeadScan(header_bytes_);
    end = parser_->scan.end(bytes.substr(2));
  }
  if (!end) return Progress::more;
  const std::string_view head = bytes.substr(taken, *end);
  Framing& framing = parser_->framing = check_head(head);
  put(head);
  taken += head.size();
  const auto length = parser_->content_length();
  const bool same = parser_->is_header_done() && parser_->chunked() == framing.chunked &&
                    length.has_value() == framing.length.has_value() &&
                    length.value_or(0) == framing.length.value_or(0);
  if (!same) throw FramingError(400, "the request can be read in two ways");
  take_target();
  parser_->head_done = true;
  return Progress::head;
}

void RequestReader::take_target() {
  Target target = read_target(request_.method, parser_->target);
  request_.path = std::move(target.path);
  request_.query = std::move(target.query);
  if (target.host.empty()) return;
  for (auto& [name, value] : request_.headers)
    if (name == "host") value = target.host;
}

RequestReader::Progress RequestReader::read_body(std::string_view bytes, size_t& taken) {
  if (!parser_->framing.chunked) {
    taken = put(bytes);
  } else {
    size_t& scanned = parser_->scanned;
    scanned += parser_->chunks.read(bytes.substr(scanned));
    // Beast 1.81 aborts where "0 CRLF CRLF" begins a body and comes in pieces, so it gets each frame whole.
    const size_t whole = scanned - parser_->chunks.unfinished();
    if (whole > 0) taken = put(bytes.substr(0, whole));
    scanned -= taken;
    if (parser_->chunks.done() != parser_->is_done())
      throw FramingError(400, "the body can be read in two ways");
  }
  return parser_->is_done() ? Progress::whole : Progress::more;
}

size_t RequestReader::put(std::string_view bytes) {
  error_code error;
  const size_t taken = parser_->put({bytes.data(), bytes.size()}, error);
  if (error && error != beast::http::error::need_more)
    throw FramingError(400, "the request is not valid HTTP: " + error.message());
  return taken;
}

}  // namespace dragoman::internal
