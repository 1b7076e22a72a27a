// A request's body as the properties that its route's schema describes.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "serve/route.h"

namespace dragoman::internal {

// "application/json" of "Application/JSON; charset=utf-8". Empty where there is none.
std::string media_type(const IncomingRequest& request);

// Throws a ServeError: 415 where the route takes no such body, 400 where it is not what its type says. Null for types
// whose bodies the route's handler reads.
void check_media_type(const IncomingRequest& head, const Route& route);
nlohmann::json body_properties(const IncomingRequest& request, const Route& route);

}  // namespace dragoman::internal
