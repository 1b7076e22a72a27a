// What the routes' JSON Schemas are made of. The keys' order is that of the OpenAPI document.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

inline nlohmann::ordered_json text_schema(const char* description = nullptr) {
  nlohmann::ordered_json schema = {{"type", "string"}};
  if (description != nullptr) schema["description"] = description;
  return schema;
}

// Properties that are texts.
inline nlohmann::ordered_json text_properties(const std::vector<std::string>& names) {
  nlohmann::ordered_json properties = nlohmann::ordered_json::object();
  for (const std::string& name : names) properties[name] = text_schema();
  return properties;
}

inline nlohmann::ordered_json list_schema(const nlohmann::ordered_json& items) {
  return {{"type", "array"}, {"items", items}};
}

inline nlohmann::ordered_json object_schema(nlohmann::ordered_json properties,
                                            const std::vector<std::string>& required) {
  return {{"type", "object"}, {"required", required}, {"properties", std::move(properties)}};
}

// Other properties are refused (schema.h).
inline nlohmann::ordered_json strict_object_schema(nlohmann::ordered_json properties,
                                                   const std::vector<std::string>& required) {
  return {{"type", "object"},
          {"required", required},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

}  // namespace dragoman::internal
