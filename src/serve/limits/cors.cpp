#include "serve/limits/cors.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

// "localhost:5000" of "http://localhost:5000/page". Of "null", a page's that has no address, nothing.
std::string_view host_of(std::string_view url) {
  const size_t begin = url.find("://");
  if (begin == url.npos) return {};
  url.remove_prefix(begin + 3);
  return url.substr(0, url.find('/'));
}

}  // namespace

bool Cors::allows(std::string_view origin) const {
  return !origin.empty() && std::ranges::any_of(origins_, [&](const std::string& allowed) {
    return allowed == "*" || allowed == origin;
  });
}

bool Cors::is_foreign(const IncomingRequest& request) const {
  const std::string_view site = request.header("sec-fetch-site"), origin = request.header("origin");
  if (allows(origin)) return false;
  if (!site.empty()) return site == "cross-site" || site == "same-site";
  const std::string_view page = !origin.empty() ? origin : request.header("referer");
  if (!page.empty()) return host_of(page) != request.header("host");
  return request.header("user-agent").starts_with("Mozilla/");
}

void Cors::add_headers(std::string_view origin, HttpHeaders& headers) const {
  if (origins_.empty()) return;
  const bool all = std::ranges::find(origins_, "*") != origins_.end();
  if (!all) headers.emplace_back("vary", "Origin");
  if (!allows(origin)) return;
  headers.emplace_back("access-control-allow-origin", all ? "*" : std::string(origin));
  headers.emplace_back("access-control-expose-headers", "ETag, Retry-After, X-Ignored, X-Request-Id");
}

HttpResponse Cors::preflight(const IncomingRequest& request, const std::string& methods) const {
  HttpResponse response = {.status = 204, .type = "", .headers = {{"allow", methods}}};
  if (allows(request.header("origin")) && !request.header("access-control-request-method").empty()) {
    response.headers.emplace_back("access-control-allow-methods", methods);
    response.headers.emplace_back("access-control-allow-headers",
                                  "Authorization, Content-Type, Prefer, X-Request-Id, X-Timeout-Ms");
    response.headers.emplace_back("access-control-max-age", "86400");
  }
  return response;
}

}  // namespace dragoman::internal
