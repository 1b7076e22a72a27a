// RequestReader: one request out of the bytes of a connection, fed from memory in pieces of any size.
//
// Beast parses; framing.h has checked the bytes before, and where the two do not read the same, the request is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace dragoman::internal {

class RequestReader {
 public:
  enum class Progress {
    more,  // more bytes are needed
    head,  // all but the body is known; reported once: read on
    whole,
    refused,  // see `refusal`
  };

  struct Refusal {
    int status = 0;
    std::string sentence;
  };

  explicit RequestReader(size_t header_bytes);
  ~RequestReader();

  // Takes bytes off the front of `bytes`; what is left has to come again, with more behind it.
  Progress read(std::string_view bytes, size_t& taken);
  void limit_body(size_t bytes);  // in chunks; of one whose length is known, see content_length
  void reset();                   // for the next request

  // From `head` on.
  IncomingRequest& request() { return request_; }
  bool http_1_1() const;
  bool keep_alive() const;
  bool expects_continue() const;
  bool body_follows() const;                       // some of it is still to be read
  std::optional<uint64_t> content_length() const;  // none where the body comes in chunks
  bool whole() const;
  bool begun() const;  // some of the request has been seen

  const Refusal& refusal() const { return refusal_; }

 private:
  class Parser;
  Progress read_head(std::string_view bytes, size_t& taken);
  Progress read_body(std::string_view bytes, size_t& taken);
  void take_target();
  size_t put(std::string_view bytes);

  const size_t header_bytes_;
  std::unique_ptr<Parser> parser_;
  IncomingRequest request_;
  Refusal refusal_;
};

}  // namespace dragoman::internal
