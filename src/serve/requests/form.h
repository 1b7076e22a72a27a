// Bodies of forms as the properties that the same body would have in JSON: a string, or an array of strings where a
// field is repeated. Of multipart/form-data that holds for its fields; its files are multipart.h's.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

inline constexpr size_t max_form_fields = 10'000;

// Throw a ServeError of status 400 where a field is not valid UTF-8 or there are too many.
nlohmann::json parse_urlencoded(std::string_view body);
nlohmann::json multipart_fields(std::string_view content_type, std::string_view body);

}  // namespace dragoman::internal
