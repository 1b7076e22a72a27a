// The JSON of a safetensors header, in time and memory that are in proportion to its size.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// Only what the format allows: two levels of objects, arrays of a few values in the second, no key twice, no zero byte.
// Anything else is an Error, which names the file.
nlohmann::json parse_safetensors_json(const std::string& path, std::string_view text);

}  // namespace dragoman::internal
