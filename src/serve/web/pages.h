// The pages that the server shows, with their styles and scripts: the files of web/. They name each other by relative
// paths, so that a proxy may serve them under a prefix. A strict Content-Security-Policy keeps them from running
// anything inline and from asking any other server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/route.h"

namespace dragoman::internal {

struct WebSettings {
  bool training = false;  // there are runs to show
};

// "/", "/inspect", "/training" and "/web/<name>". They need no API key: what the pages ask for does.
std::vector<Route> web_routes(const WebSettings& settings);

// Contents with their tag. A browser that has them already is told so, instead of getting them again.
HttpResponse tagged_answer(const IncomingRequest& request, std::string_view contents, const std::string& tag);
std::string entity_tag(std::string_view contents);

}  // namespace dragoman::internal
