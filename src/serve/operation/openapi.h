// The server's OpenAPI document, generated from the routes.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "serve/route.h"

namespace dragoman::internal {

nlohmann::ordered_json openapi_document(const std::vector<Route>& routes, bool needs_key);

}  // namespace dragoman::internal
