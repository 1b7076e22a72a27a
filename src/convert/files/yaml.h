// YAML, the format of Marian's configurations and vocabularies, as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// The first document: mappings, sequences and scalars. Plain scalars are null, booleans and numbers where they look
// like them; others, and keys, are strings. The text may come from anywhere: its size and depth are limited, and
// aliases, which may multiply it, are refused. Errors start with the path and the line.
nlohmann::json parse_yaml(const std::string& text, const std::string& path);

}  // namespace dragoman::internal
