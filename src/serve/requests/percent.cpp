#include "serve/requests/percent.h"

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

std::string decoded(std::string_view text, char plus) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i] == '+' ? plus : text[i];
    }
  }
  return result;
}

}  // namespace

std::string percent_decoded(std::string_view text) { return decoded(text, '+'); }
std::string form_decoded(std::string_view text) { return decoded(text, ' '); }

}  // namespace dragoman::internal
