// Cors: which other origins' pages may use the server from a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace dragoman::internal {

class Cors {
 public:
  explicit Cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}

  // The headers of an answer to a page of this origin, which may be empty.
  void add_headers(std::string_view origin, HttpHeaders& headers) const;
  // The answer to OPTIONS; `methods`: those of the path, "GET, HEAD".
  HttpResponse preflight(const IncomingRequest& request, const std::string& methods) const;

  // Whether the request is a browser's, for a page of another site that is not allowed: browsers send some of these
  // without asking first. They say which site's in Sec-Fetch-Site, but only to servers with HTTPS and on the same
  // machine; to others in Origin or Referer, which a page may leave out: then all browsers are refused.
  bool is_foreign(const IncomingRequest& request) const;

 private:
  bool allows(std::string_view origin) const;

  std::vector<std::string> origins_;  // "*": all
};

}  // namespace dragoman::internal
