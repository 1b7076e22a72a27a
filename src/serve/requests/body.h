// A request's body as the properties that its route's schema describes. Files in a form are multipart.h's.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "serve/route.h"

namespace dragoman::internal {

// "application/json" of "Application/JSON; charset=utf-8". Empty where there is none.
std::string media_type(const IncomingRequest& request);

// Throws a ServeError: 415 where the route takes no such body, 400 where it is not what its type says. Null for types
// whose bodies the route's handler reads.
void check_media_type(const IncomingRequest& head, const Route& route);
nlohmann::json body_properties(const IncomingRequest& request, const Route& route);

inline constexpr size_t max_form_fields = 10'000;

// A form's fields as the same body would have them in JSON: a string, or an array of strings where a field is repeated.
// Throw a ServeError of status 400 where a field is not valid UTF-8 or there are too many.
nlohmann::json parse_urlencoded(std::string_view body);
nlohmann::json multipart_fields(std::string_view content_type, std::string_view body);

}  // namespace dragoman::internal
