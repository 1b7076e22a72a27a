// JSON files as documents: what they all need.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "document/messages/strings.h"

namespace dragoman::internal {

// Throws an Error with the line if the file is not valid JSON, or too large.
nlohmann::json parse_json_document(std::string_view file, const DocumentSettings& settings);

// Of a file's strings: characters beyond ASCII are escaped where the file does so throughout.
const StringSyntax& json_syntax(std::string_view file);

}  // namespace dragoman::internal
