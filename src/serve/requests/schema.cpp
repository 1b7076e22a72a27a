#include "serve/requests/schema.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/quotes.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using Json = nlohmann::json;
using Schema = nlohmann::ordered_json;

std::string check(const Schema& schema, const Json& value, const std::string& name);

bool is_type(const std::string& type, const Json& value) {
  if (type == "integer") {
    return value.is_number_integer() ||
           (value.is_number_float() &&
            value.get<double>() ==
                static_cast<double>(static_cast<int64_t>(std::clamp(value.get<double>(), -1e15, 1e15))));
  }
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

// "a whole number", for messages.
std::string article(const std::string& type) {
  if (type == "integer") return "a whole number";
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list";
  if (type == "object") return "an object";
  return type == "null" ? "null" : "a " + type;
}

bool is_one_of(const Schema& list, const Json& value) {
  return std::ranges::any_of(list, [&](const Schema& one) { return Json(one) == value; });
}

std::string check_number(const Schema& schema, double value, const std::string& name) {
  const auto limit = [&](const char* key) { return schema[key].get<double>(); };
  if (schema.contains("minimum") && value < limit("minimum"))
    return fmt::format("{} is {}, but must be at least {}", name, value, limit("minimum"));
  if (schema.contains("maximum") && value > limit("maximum"))
    return fmt::format("{} is {}, but must be at most {}", name, value, limit("maximum"));
  if (schema.contains("exclusiveMinimum") && value <= limit("exclusiveMinimum"))
    return fmt::format("{} is {}, but must be above {}", name, value, limit("exclusiveMinimum"));
  if (schema.contains("exclusiveMaximum") && value >= limit("exclusiveMaximum"))
    return fmt::format("{} is {}, but must be below {}", name, value, limit("exclusiveMaximum"));
  return "";
}

std::string check_size(const Schema& schema, size_t size, const std::string& name, const char* least,
                       const char* most, const char* unit) {
  if (schema.contains(least) && size < schema[least].get<size_t>())
    return fmt::format("{} has {} {}, but must have at least {}", name, size, unit,
                       schema[least].get<size_t>());
  if (schema.contains(most) && size > schema[most].get<size_t>())
    return fmt::format("{} has {} {}, but may have at most {}", name, size, unit, schema[most].get<size_t>());
  return "";
}

std::string check_items(const Schema& schema, const Json& list, const std::string& name) {
  std::string wrong = check_size(schema, list.size(), name, "minItems", "maxItems", "items");
  if (!wrong.empty() || !schema.contains("items")) return wrong;
  for (size_t i = 0; i < list.size() && wrong.empty(); ++i)
    wrong = check(schema["items"], list[i], fmt::format("{}[{}]", name, i));
  return wrong;
}

std::string unknown_field(const Schema& properties, const std::string& key) {
  std::vector<std::string> known;
  for (const auto& [name, schema] : properties.items()) known.push_back(name);
  return fmt::format("unknown field {}{}", in_quotes(key), suggestion(key, known));
}

std::string check_object(const Schema& schema, const Json& object, const std::string& name) {
  const std::string path = name.empty() ? "" : name + ".";
  for (const Schema& required : schema.value("required", Schema::array())) {
    if (!object.contains(required.get<std::string>()))
      return fmt::format("the field {} is missing", in_quotes(path + required.get<std::string>()));
  }
  if (!schema.contains("properties")) return "";
  const Schema& properties = schema["properties"];
  for (const auto& [key, value] : object.items()) {
    if (properties.contains(key)) {
      if (const std::string wrong = check(properties[key], value, path + key); !wrong.empty()) return wrong;
    } else if (schema.value("additionalProperties", true) == false) {
      return unknown_field(properties, key);
    }
  }
  return "";
}

// The message of the alternative that has the value's type, if one has.
std::string check_one_of(const Schema& alternatives, const Json& value, const std::string& name) {
  std::vector<std::string> types;
  for (const Schema& schema : alternatives) {
    const std::string type = schema.value("type", "");
    if (is_type(type, value)) return check(schema, value, name);
    types.push_back(article(type));
  }
  return fmt::format("{} must be {}", name, fmt::join(types, " or "));
}

std::string check(const Schema& schema, const Json& value, const std::string& name) {
  if (schema.contains("oneOf")) return check_one_of(schema["oneOf"], value, name);
  const std::string type = schema.value("type", "");
  if (!type.empty() && !is_type(type, value)) return fmt::format("{} must be {}", name, article(type));
  if (schema.contains("enum") && !is_one_of(schema["enum"], value)) {
    std::vector<std::string> names;
    for (const Schema& one : schema["enum"])
      names.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    return fmt::format("{} must be one of {}", name, fmt::join(names, ", "));
  }
  if (value.is_number()) return check_number(schema, value.get<double>(), name);
  if (value.is_string())
    return check_size(schema, code_point_count(value.get<std::string>()), name, "minLength", "maxLength",
                      "characters");
  if (value.is_array()) return check_items(schema, value, name);
  if (value.is_object()) return check_object(schema, value, name);
  return "";
}

}  // namespace

std::string mismatch(const nlohmann::ordered_json& schema, const nlohmann::json& value) {
  return value.is_null() ? "the body is missing: send a JSON object" : check(schema, value, "");
}

}  // namespace dragoman::internal
