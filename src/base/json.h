// JSON in and out. For all that this program did not just write itself: parse_json and integer_at.
//
// nlohmann's parser takes any depth of nesting, but copying, printing and comparing what it returns is recursive: deep
// nesting, which is never meant, would overflow the stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

inline constexpr int max_json_depth = 100;

// Whether arrays and objects are nested more deeply than max_json_depth: exact up to the text's first error.
bool is_nested_too_deeply(std::string_view text);

// Throws nlohmann::json::exception, as nlohmann's own parse does.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (is_nested_too_deeply(text)) throw Json::parse_error::create(101, 0, "it is nested too deeply", nullptr);
  return Json::parse(text);
}

// As text. Bytes that are not UTF-8, as the name of a file may have, become U+FFFD, where dump() throws.
template <class Json>
std::string json_text(const Json& value, int spaces_per_level = -1) {
  return value.dump(spaces_per_level, ' ', false, Json::error_handler_t::replace);
}

// What an exception says, without the library's number for it.
std::string_view reason_of(const nlohmann::json::exception& error);

// The integer at a key of an object, or at a place of an array. Throws nlohmann::json::exception where there is none:
// nlohmann's own conversion accepts any number, and is undefined for those that no integer holds, such as 1e300.
template <class Key>
int64_t integer_at(const nlohmann::json& json, const Key& key) {
  const nlohmann::json& value = json.at(key);
  if (!value.is_number_integer())
    throw nlohmann::json::type_error::create(302, value.dump() + " is not an integer", &value);
  return value.get<int64_t>();
}

}  // namespace dragoman::internal
