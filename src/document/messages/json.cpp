#include <algorithm>

#include <nlohmann/json.hpp>

#include "document/messages/icu.h"
#include "document/messages/json_text.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

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

// Walks through a valid file, with the keys that lead to the current place.
class StringTable {
 public:
  StringTable(std::string_view file, Layout layout, const DocumentSettings& settings)
      : file_(file),
        layout_(layout),
        to_(settings.to),
        is_icu_(has_icu_choices(file) || layout.message == "defaultMessage"),
        syntax_(json_syntax(file)) {}

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
  return read_after_mark(bytes, [&](std::string_view file) {
    return StringTable(file, layout_of(parse_json_document(file, settings)), settings).read();
  });
}

}  // namespace dragoman::internal
