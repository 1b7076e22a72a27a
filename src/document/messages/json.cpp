#include "base/json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "document/messages/icu.h"
#include "document/messages/strings.h"
#include "document/messages/unicode_escapes.h"
#include "document/readers.h"

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

// Where a file has text.
struct Layout {
  std::string_view
      message;  // the key, in objects below the root, of what is translated; empty: every string is
  std::string_view table;  // the key, in the root, of what is translated
};

Layout layout_of(const nlohmann::json& root) {
  if (!root.is_object() || root.empty()) return {};
  const auto is_string = [](const nlohmann::json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string();
  };
  for (const char* const key : {"message", "defaultMessage"})
    if (std::ranges::all_of(root, [&](const nlohmann::json& item) { return is_string(item, key); }))
      return {.message = key};
  if (is_string(root, "locale") && root.contains("translations") && root["translations"].is_object())
    return {.table = "translations"};
  return {};
}

constexpr size_t max_json_bytes = size_t{64} << 20;  // parsing takes ten times as much memory

nlohmann::json parsed(std::string_view file, const DocumentSettings& settings) {
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

// Walks through a valid file, with the keys that lead to the current place.
class StringTable {
 public:
  StringTable(std::string_view file, Layout layout, const DocumentSettings& settings)
      : file_(file),
        layout_(layout),
        to_(settings.to),
        is_icu_(has_icu_choices(file) || layout.message == "defaultMessage"),
        syntax_(escapes_all(file) ? string_syntax<decode_json, escape_to_ascii>()
                                  : string_syntax<decode_json, escape_json>()) {}

  Document read() && {
    for (size_t at = 0; at < file_.size();) {
      const size_t next = std::min(file_.find_first_of("\"{}[],", at), file_.size());
      document_.keep(file_.substr(at, next - at));
      at = next < file_.size() ? read_token(next) : next;
    }
    return std::move(document_).finish();
  }

 private:
  struct Level {
    bool is_object = false, expects_key = false, is_text = true;
    std::string key = {};  // the last one read
  };

  // At a quotation mark, bracket or comma. Returns the place after it.
  size_t read_token(size_t at) {
    const char c = file_[at];
    if (c == '"') return read_string(at);
    document_.keep(file_.substr(at, 1));
    if (c == '{' || c == '[') {
      levels_.push_back({.is_object = c == '{', .expects_key = c == '{', .is_text = is_text()});
    } else if (c == ',') {
      levels_.back().expects_key = levels_.back().is_object;
    } else {
      levels_.pop_back();
    }
    return at + 1;
  }

  size_t read_string(size_t begin) {
    size_t end = begin + 1;
    while (file_[end] != '"') end += file_[end] == '\\' ? 2 : 1;
    const std::string_view inner = file_.substr(begin + 1, end - begin - 1);
    const bool is_key = !levels_.empty() && levels_.back().expects_key;
    document_.keep("\"");
    if (is_key) {
      levels_.back().key = inner;
      levels_.back().expects_key = false;
      document_.keep(inner);
    } else if (names_language()) {
      document_.keep(to_);
    } else if (is_text()) {
      translate(inner);
    } else {
      document_.keep(inner);
    }
    document_.keep("\"");
    return end + 1;
  }

  void translate(std::string_view string) {
    for (MessagePart& part : message_parts(string, syntax_, {.may_be_icu = true, .is_icu = is_icu_})) {
      document_.keep(part.kept);
      if (part.segment) document_.add(*std::move(part.segment));
    }
  }

  // Whether a value at this place is translated.
  bool is_text() const {
    if (levels_.empty()) return true;
    const Level& level = levels_.back();
    if (!level.is_text || !level.is_object) return level.is_text;
    if (level.key.starts_with('@')) return false;
    if (levels_.size() == 1 && !layout_.table.empty()) return level.key == layout_.table;
    if (levels_.size() == 1 && level.key == "$schema") return false;
    return levels_.size() == 1 || layout_.message.empty() ||
           (levels_.size() == 2 && level.key == layout_.message);
  }

  // The language of the file, of ARB and of Angular.
  bool names_language() const {
    if (to_.empty() || levels_.size() != 1) return false;
    return levels_[0].key == "@@locale" || (!layout_.table.empty() && levels_[0].key == "locale");
  }

  std::string_view file_;
  Layout layout_;
  std::string to_;
  bool is_icu_;
  StringSyntax syntax_;
  FlatDocument document_ = {};
  std::vector<Level> levels_ = {};
};

}  // namespace

Document read_json_strings(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  const size_t mark = bytes.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  const Layout layout = layout_of(parsed(bytes.substr(mark), settings));
  return StringTable(bytes, layout, settings).read();
}

}  // namespace dragoman::internal
