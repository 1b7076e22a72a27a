// JSON Schema, as far as the routes use it: type, enum, minimum, maximum and their exclusive forms, minLength,
// maxLength, items, minItems, maxItems, properties, required, additionalProperties, oneOf.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// What is wrong with a value, as a sentence that names the property; empty where nothing is.
std::string mismatch(const nlohmann::ordered_json& schema, const nlohmann::json& value);

}  // namespace dragoman::internal
