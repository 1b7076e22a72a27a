// Answers as the bytes that are sent.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "http/message.h"

namespace dragoman::internal {

enum class BodyFraming { length, chunked, until_close };

struct HeadTerms {
  BodyFraming framing = BodyFraming::length;
  bool http_1_1 = true;
  bool keep_alive = true;
  std::string_view id = {};  // of the request
};

// The status line and all headers, with the blank line. The body's length is that of `response`, if it has one.
std::string response_head(const HttpResponse& response, const HeadTerms& terms);

// "Too Many Requests"; "Unknown" where no standard has the status.
std::string_view reason_of(int status);

// An answer of the server's own: a JSON object with the sentence.
HttpResponse error_response(int status, std::string_view sentence);
inline constexpr std::string_view unanswered =
    "the server failed to answer this request: see the server's log";

std::string http_date(std::chrono::system_clock::time_point time);  // "Sun, 06 Nov 1994 08:49:37 GMT"

// One chunk of a body in chunks.
void append_chunk(std::string& to, std::string_view text);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace dragoman::internal
