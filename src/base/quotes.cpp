#include "base/quotes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace dragoman::internal {
namespace {

// Not within a character of UTF-8.
std::string_view beginning(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && max_bytes - end < 3 && is_continuation(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace

std::string shortened(std::string_view text, size_t max_bytes) {
  return std::string(beginning(text, max_bytes)) + (text.size() > max_bytes ? "..." : "");
}

std::string counted(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string in_quotes(std::string_view text) {
  using Json = nlohmann::json;
  const std::string_view shown = beginning(text, 100);
  return Json(shown).dump(-1, ' ', true, Json::error_handler_t::replace) +
         (shown.size() < text.size() ? "..." : "");
}

}  // namespace dragoman::internal
