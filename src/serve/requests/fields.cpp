#include "serve/requests/fields.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "serve/requests/body.h"

namespace dragoman::internal {
namespace {

const nlohmann::json missing;

}  // namespace

// A request without a body may name a type all the same, as some clients always do.
Fields::Fields(const ServeCall& call)
    : is_json_(call.body.is_object() && media_type(call.request) == "application/json") {
  if (call.body.is_object()) values_ = call.body;
  if (is_json_) return;
  nlohmann::json query = nlohmann::json::object();
  for (const auto& [name, value] : call.request.query) query.emplace(name, value);
  values_.update(query);
}

const nlohmann::json& Fields::at(const std::string& name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? *found : missing;
}

std::string Fields::text(const std::string& name) const {
  const nlohmann::json& value = at(name);
  if (value.is_null()) return {};
  if (!is_json_ && value.is_array()) return value.at(0).get<std::string>();
  if (!value.is_string()) throw ServeError(400, fmt::format("Invalid request: {} must be a string", name));
  return value.get<std::string>();
}

std::vector<std::string> Fields::texts(const std::string& name) const {
  if (!is_list(name)) return at(name).is_null() ? std::vector<std::string>() : std::vector{text(name)};
  std::vector<std::string> all;
  for (const nlohmann::json& value : at(name)) {
    if (!value.is_string())
      throw ServeError(400, fmt::format("Invalid request: {} must be a string or a list of strings", name));
    all.push_back(value.get<std::string>());
  }
  return all;
}

bool Fields::flag(const std::string& name) const {
  const nlohmann::json& value = at(name);
  if (value.is_string()) return value == "1" || value == "true" || value == "True";
  return value.is_boolean() ? value.get<bool>() : value == 1;
}

std::optional<int64_t> Fields::integer(const std::string& name) const {
  const nlohmann::json& value = at(name);
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_string()) return std::nullopt;
  return parse_number<int64_t>(value.get_ref<const std::string&>());
}

}  // namespace dragoman::internal
