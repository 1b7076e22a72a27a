// Requests out of bytes in memory, read in pieces as a connection reads them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "http/beast/request_reader.h"

namespace dragoman::internal {

struct RequestsRead {
  struct One {
    IncomingRequest request;
    size_t begin, end;  // its bytes
  };
  std::vector<One> requests;
  int refused = 0;  // the status; 0: more bytes might follow
};

// `next_piece` says how many bytes the next read brings.
template <class Function>
RequestsRead read_in_pieces(std::string_view bytes, size_t header_bytes, size_t body_bytes,
                            Function next_piece) {
  RequestReader reader(header_bytes);
  RequestsRead read;
  size_t begin = 0, taken_all = 0, seen = 0;
  for (;;) {
    size_t taken = 0;
    const auto progress = reader.read(bytes.substr(taken_all, seen - taken_all), taken);
    taken_all += taken;
    switch (progress) {
      case RequestReader::Progress::more:
        if (seen == bytes.size()) return read;
        seen += std::clamp<size_t>(next_piece(), 1, bytes.size() - seen);
        break;
      case RequestReader::Progress::head:
        reader.limit_body(body_bytes);
        if (reader.content_length().value_or(0) > body_bytes) {  // as a connection does
          read.refused = 413;
          return read;
        }
        break;
      case RequestReader::Progress::whole:
        read.requests.push_back({std::move(reader.request()), begin, taken_all});
        reader.reset();
        begin = taken_all;
        break;
      case RequestReader::Progress::refused:
        read.refused = reader.refusal().status;
        return read;
    }
  }
}

inline RequestsRead read_at_once(std::string_view bytes, size_t header_bytes = 16 << 10,
                                 size_t body_bytes = 1 << 20) {
  return read_in_pieces(bytes, header_bytes, body_bytes, [&] { return bytes.size(); });
}

inline bool same_requests(const RequestsRead& a, const RequestsRead& b) {
  return a.refused == b.refused &&
         std::ranges::equal(
             a.requests, b.requests, [](const RequestsRead::One& x, const RequestsRead::One& y) {
               return x.begin == y.begin && x.end == y.end && x.request.method == y.request.method &&
                      x.request.path == y.request.path && x.request.query == y.request.query &&
                      x.request.headers == y.request.headers && x.request.body == y.request.body;
             });
}

}  // namespace dragoman::internal
