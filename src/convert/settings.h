// A JSON object from a model's folder, or what is read as one, and its values by name and type. Errors start with the
// file's path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace dragoman::internal {

class Settings {
 public:
  explicit Settings(std::string path);
  Settings(std::string path, nlohmann::json values);  // must be an object
  Settings(const std::string& folder, const char* name) : Settings(folder + "/" + name) {}

  const std::string& path() const { return path_; }
  const nlohmann::json& values() const { return values_; }
  // In files of transformers null means that a key has no value.
  bool has(const char* key) const { return values_.contains(key) && !values_[key].is_null(); }

  // What the key must be; `otherwise` where it has no value.
  int64_t integer(const char* key, std::optional<int64_t> otherwise = {}) const;
  double number(const char* key, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;

  // An Error unless the key has this value or is missing.
  void require(const char* key, bool supported) const;

  // The object at a key, empty if it is missing. An Error if it is something else.
  Settings object(const char* key) const;

  // The others' values win.
  void update(const Settings& others) { values_.update(others.values_); }

 private:
  std::string path_;
  nlohmann::json values_;
};

// The model_type in a Hugging Face folder's config.json; empty if there is none.
std::string model_type_of(const std::string& folder);

}  // namespace dragoman::internal
