// Fields: what a request asks for, from its body (JSON or a form) and its query, as clients send the same fields in any
// of them. Of a form's request the query counts before the body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/route.h"

namespace dragoman::internal {

class Fields {
 public:
  explicit Fields(const ServeCall& call);

  bool is_json() const { return is_json_; }
  const nlohmann::json& at(const std::string& name) const;  // null where it is missing

  // These throw a ServeError of status 400 where the field has another type. A missing field is empty.
  std::string text(const std::string& name) const;  // of a list in a form the first
  std::vector<std::string> texts(const std::string& name) const;
  bool is_list(const std::string& name) const { return at(name).is_array(); }
  bool flag(const std::string& name) const;  // true, "true", 1 and "1"
  // An integer, which may be written as text; nothing where it is missing or anything else.
  std::optional<int64_t> integer(const std::string& name) const;

 private:
  nlohmann::json values_ = nlohmann::json::object();
  bool is_json_ = false;
};

}  // namespace dragoman::internal
