// String Catalogs of Xcode (.xcstrings): JSON with the texts of a program in all its languages.
//
//   {"sourceLanguage": "en", "strings": {
//     "%lld files": {"localizations": {"fr": {"stringUnit": {"state": "translated", "value": "%lld fichiers"}}}},
//     "Open": {}}, "version": "1.0"}
//
// The text is that of the source language, or the key where that has none. A translation has its shape: what varies by
// number or device in the source does so in the translation.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/error.h"
#include "document/messages/json_text.h"
#include "document/messages/json_tree.h"
#include "document/messages/message_document.h"
#include "document/readers.h"

namespace dragoman::internal {
namespace {

using JsonKind = JsonNode::Kind;

bool same_tag(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return (x == '_' && y == '-') || (x == '-' && y == '_') || lower_letter(x) == lower_letter(y);
  });
}

// Texts with their states.
bool is_unit(std::string_view key) { return key == "stringUnit" || key == "stringSet"; }

class StringCatalog {
 public:
  StringCatalog(std::string_view file, const DocumentSettings& settings)
      : file_(file), root_(json_tree(file)), settings_(settings), syntax_(json_syntax(file)) {}

  Document document() && {
    const JsonNode *source = find(root_, "sourceLanguage"), *strings = find(root_, "strings");
    if (source == nullptr || source->kind != JsonKind::string || strings == nullptr)
      throw Error("{}: this is not a String Catalog: it has no \"sourceLanguage\" or no \"strings\"",
                  settings_.name);
    source_ = source->inner().of(file_);
    if (same_tag(source_, settings_.to))
      throw Error("{}: the catalog's texts are in the language {}: give another one to translate to",
                  settings_.name, source_);
    const JsonMember& first = root_.members.front();
    gap_ = layout(root_.place.begin + 1, first.key.begin - 1, "");
    colon_ = layout(first.key.end + 1, first.value.place.begin, ":");
    for (const JsonMember& entry : strings->members) read_entry(entry);
    document_.keep(file_.substr(at_));
    return std::move(document_).finish();
  }

 private:
  static constexpr size_t depth = 4;  // of a language

  // What the file has between signs. Each new entry has a copy: white space without end would fill the memory.
  std::string_view layout(size_t begin, size_t end, std::string_view otherwise) const {
    constexpr size_t longest = 80;
    return end - begin <= longest ? file_.substr(begin, end - begin) : otherwise;
  }

  const JsonNode* find(const JsonNode& node, std::string_view key) const { return node.find(file_, key); }
  std::string_view bytes_of(const JsonNode& node) const { return node.place.of(file_); }
  bool has(const JsonNode& node, std::string_view key, std::string_view bytes) const {
    const JsonNode* const value = find(node, key);
    return value != nullptr && bytes_of(*value) == bytes;
  }

  void read_entry(const JsonMember& entry) {
    if (entry.value.kind != JsonKind::object || has(entry.value, "shouldTranslate", "false") ||
        has(entry.value, "extractionState", "\"stale\""))
      return;
    const JsonNode* const languages = find(entry.value, "localizations");
    if (languages == nullptr) {
      if (has_words(entry.key))
        insert(entry.value, "localizations", depth - 1, [&] { write_languages(entry.key); });
      return;
    }
    const JsonNode* const source = language(*languages, source_);
    if (languages->kind != JsonKind::object ||
        !(source != nullptr ? has_text(*source) : has_words(entry.key)))
      return;
    const auto write = [&] { source != nullptr ? copy(*source, false) : write_unit(entry.key); };
    const JsonNode* const target = language(*languages, settings_.to);
    if (target == nullptr) {
      insert(*languages, settings_.to, depth, write);
    } else if (!is_translated(*target)) {
      keep_until(target->place.begin);
      write();
      at_ = target->place.end;
    }
  }

  const JsonNode* language(const JsonNode& languages, std::string_view tag) const {
    const auto found = std::ranges::find_if(
        languages.members, [&](const JsonMember& member) { return same_tag(member.key.of(file_), tag); });
    return found != languages.members.end() ? &found->value : nullptr;
  }

  // Markup that inflects words, ^[...](inflect: true), is not the same in all languages.
  bool has_words(TextSpan text) const {
    const std::string_view bytes = text.of(file_);
    const auto parts = message_parts(bytes, syntax_, {.grammar = &grammar_});
    return std::ranges::any_of(parts, [](const MessagePart& part) { return part.segment.has_value(); }) &&
           bytes.find("](inflect:") == bytes.npos;
  }

  // Calls `visit` for each unit in a localization, and whether any call returns true.
  bool any_unit(const JsonNode& node, const std::function<bool(const JsonNode& unit)>& visit) const {
    return std::ranges::any_of(node.members, [&](const JsonMember& member) {
      return (is_unit(member.key.of(file_)) && visit(member.value)) || any_unit(member.value, visit);
    });
  }

  bool has_text(const JsonNode& localization) const {
    return any_unit(localization, [&](const JsonNode& unit) {
      const JsonNode *text = find(unit, "value"), *texts = find(unit, "values");
      const auto has = [&](const JsonMember& one) {
        return one.value.kind == JsonKind::string && has_words(one.value.inner());
      };
      return (text != nullptr && has({.value = *text})) ||
             (texts != nullptr && std::ranges::any_of(texts->members, has));
    });
  }

  bool is_translated(const JsonNode& localization) const {
    return any_unit(localization, [&](const JsonNode& unit) { return !has(unit, "state", "\"new\""); });
  }

  void keep_until(size_t place) {
    document_.keep(file_.substr(at_, place - at_));
    at_ = place;
  }

  // What is before a member at this depth, or before the bracket behind the last one.
  std::string gap(size_t level) const {
    const size_t line = gap_.rfind('\n');
    if (line == gap_.npos) return std::string(gap_);
    std::string indented(gap_.substr(0, line + 1));
    for (; level > 0; --level) indented += gap_.substr(line + 1);
    return indented;
  }

  std::string key(std::string_view name) const { return '"' + std::string(name) + '"' + std::string(colon_); }

  // A member of an object whose members are at this depth, before the first with a greater key.
  void insert(const JsonNode& object, std::string_view name, size_t level,
              const std::function<void()>& write_value) {
    const auto greater = [&](const JsonMember& member) { return member.key.of(file_) > name; };
    const auto next = std::ranges::find_if(object.members, greater);
    const bool is_last = next == object.members.end();
    if (object.members.empty()) {
      keep_until(object.place.begin + 1);
      document_.keep(gap(level));
    } else {
      keep_until(is_last ? object.members.back().value.place.end : next->key.begin - 1);
      if (is_last) document_.keep(',' + gap(level));
    }
    document_.keep(key(name));
    write_value();
    if (object.members.empty()) {
      document_.keep(gap(level - 1));
      at_ = object.place.end - 1;
    } else if (!is_last) {
      document_.keep(',' + gap(level));
    }
  }

  void write_languages(TextSpan text) {
    document_.keep('{' + gap(depth) + key(settings_.to));
    write_unit(text);
    document_.keep(gap(depth - 1) + '}');
  }

  void write_unit(TextSpan text) {
    document_.keep('{' + gap(depth + 1) + key("stringUnit") + '{' + gap(depth + 2) + key("state") +
                   "\"needs_review\"," + gap(depth + 2) + key("value"));
    add(text);
    document_.keep(gap(depth + 1) + '}' + gap(depth) + '}');
  }

  void add(TextSpan text) {
    document_.keep("\"");
    document_.add_format(text.of(file_), syntax_, grammar_);
    document_.keep("\"");
  }

  // A localization with its texts translated.
  void copy(const JsonNode& node, bool in_unit) {
    size_t kept = node.place.begin;
    for (const JsonMember& member : node.members) {
      const std::string_view name = member.key.of(file_);
      document_.keep(file_.substr(kept, member.value.place.begin - kept));
      kept = member.value.place.end;
      const bool is_string = member.value.kind == JsonKind::string;
      if (in_unit && is_string && name == "state") {
        document_.keep("\"needs_review\"");
      } else if (is_string && in_unit && (name == "value" || node.kind == JsonKind::array)) {
        add(member.value.inner());
      } else {
        copy(member.value, is_unit(name) || (in_unit && name == "values"));
      }
    }
    document_.keep(file_.substr(kept, node.place.end - kept));
  }

  std::string_view file_;
  JsonNode root_;
  const DocumentSettings& settings_;
  const StringSyntax& syntax_;
  const FormatGrammar& grammar_ = *format_grammar("apple-format");
  std::string_view source_ = {};            // language
  std::string_view gap_ = {}, colon_ = {};  // how the file is laid out
  size_t at_ = 0;                           // up to which the file is written
  MessageDocument document_ = {};
};

}  // namespace

Document read_string_catalog(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  return read_after_mark(bytes, [&](std::string_view file) {
    parse_json_document(file, settings);
    if (settings.to.empty())
      throw Error("{}: a String Catalog has texts in many languages: give the one to translate to (to)",
                  settings.name);
    return StringCatalog(file, settings).document();
  });
}

}  // namespace dragoman::internal
