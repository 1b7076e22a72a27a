#include "base/json.h"

namespace dragoman::internal {

bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;  // what follows does not end the string
    } else if (c == '[' || c == '{') {
      if (++depth > max_json_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string_view reason_of(const nlohmann::json::exception& error) {
  const std::string_view what = error.what();
  const size_t number = what.find("] ");
  return what.starts_with('[') && number != what.npos ? what.substr(number + 2) : what;
}

}  // namespace dragoman::internal
