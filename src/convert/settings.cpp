#include "convert/settings.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::internal {

Settings::Settings(std::string path) : path_(std::move(path)) {
  try {
    values_ = parse_json(read_file(path_));
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not JSON: {}", path_, reason_of(error));
  }
  if (!values_.is_object()) throw Error("{} is not a JSON object", path_);
}

Settings::Settings(std::string path, nlohmann::json values)
    : path_(std::move(path)), values_(std::move(values)) {
  if (!values_.is_object()) throw Error("{} is not a mapping", path_);
}

int64_t Settings::integer(const char* key, std::optional<int64_t> otherwise) const {
  if (!has(key) && otherwise) return *otherwise;
  const nlohmann::json value = has(key) ? values_[key] : nlohmann::json();
  if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
    throw Error("{}: {} must be a whole number, but is {}", path_, key, has(key) ? value.dump() : "missing");
  return value.get<int64_t>();
}

double Settings::number(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!values_[key].is_number())
    throw Error("{}: {} must be a number, but is {}", path_, key, values_[key].dump());
  return values_[key].get<double>();
}

bool Settings::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!values_[key].is_boolean())
    throw Error("{}: {} must be true or false, but is {}", path_, key, values_[key].dump());
  return values_[key].get<bool>();
}

std::string Settings::text(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!values_[key].is_string())
    throw Error("{}: {} must be a string, but is {}", path_, key, values_[key].dump());
  return values_[key].get<std::string>();
}

Settings Settings::object(const char* key) const {
  if (!has(key)) return {path_, nlohmann::json::object()};
  if (!values_[key].is_object()) throw Error("{}: {} must be an object", path_, key);
  return {path_, values_[key]};
}

void Settings::require(const char* key, bool supported) const {
  if (flag(key, supported) != supported) throw Error("{}: {} = {} is not supported", path_, key, !supported);
}

std::string model_type_of(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!std::filesystem::is_regular_file(path)) return "";
  return Settings(path).text("model_type", "");
}

}  // namespace dragoman::internal
