#include "document/messages/json_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "document/messages/unicode_escapes.h"

namespace dragoman::internal {
namespace {

constexpr StringEscapes json_escapes = {"bfnrt\"\\", "\b\f\n\r\t\"\\"};

size_t decode_json(std::string_view bytes, std::string& text) {
  if (const size_t size = decode_unicode_escape(bytes, text); size > 0) return size;
  if (bytes.starts_with("\\/")) {
    text += '/';
    return 2;
  }
  return decode_character(bytes, json_escapes, text);
}

std::string escape_json(std::string_view text) {
  std::string escaped;
  for (const char c : escape_characters(text, json_escapes)) {
    if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", c);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string escape_to_ascii(std::string_view text) { return with_unicode_escapes(escape_json(text)); }

constexpr size_t max_json_bytes = size_t{64} << 20;  // parsing takes ten times as much memory

}  // namespace

nlohmann::json parse_json_document(std::string_view file, const DocumentSettings& settings) {
  if (file.size() > max_json_bytes)
    throw Error("{}: the file is too large, the limit is {} MB: split it", settings.name,
                max_json_bytes >> 20);
  try {
    return parse_json(file);
  } catch (const nlohmann::json::parse_error& error) {
    if (is_nested_too_deeply(file))
      throw Error("{}: the file is nested too deeply, the limit is {} levels", settings.name, max_json_depth);
    const std::string_view read = file.substr(0, std::min(error.byte, file.size()));
    throw Error("{}: line {} is not valid JSON: correct it, or check that the file is complete",
                settings.name, 1 + std::ranges::count(read, '\n'));
  } catch (const nlohmann::json::exception&) {
    throw Error("{}: a number is too large for JSON: correct it", settings.name);
  }
}

const StringSyntax& json_syntax(std::string_view file) {
  static const StringSyntax plain = string_syntax<decode_json, escape_json>();
  static const StringSyntax ascii = string_syntax<decode_json, escape_to_ascii>();
  return escapes_all(file) ? ascii : plain;
}

}  // namespace dragoman::internal
