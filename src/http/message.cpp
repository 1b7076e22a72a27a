#include "http/message.h"

namespace dragoman::internal {

std::string_view header_of(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

}  // namespace dragoman::internal
