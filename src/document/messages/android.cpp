// Android's resources: <string name="x">text</string>, plurals and arrays of them.
#include <algorithm>

#include "document/messages/message_document.h"
#include "document/messages/unicode_escapes.h"
#include "document/readers.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;

constexpr std::string_view xml_blanks = " \t\r\n", cdata_begin = "<![CDATA[", cdata_end = "]]>";

size_t decode_android(std::string_view bytes, std::string& text) {
  if (const size_t size = decode_unicode_escape(bytes, text); size > 0) return size;
  if (bytes[0] == '"') return 1;  // it keeps white space
  const size_t blanks = std::min(bytes.find_first_not_of(xml_blanks), bytes.size());
  if (blanks > 0) {
    text += ' ';
    return blanks;
  }
  return decode_character(bytes, {"nt'\"@?\\", "\n\t'\"@?\\"}, text);
}

std::string escape_android_html(std::string_view text) {
  return escape_characters(text, {"nt'\"\\", "\n\t'\"\\"});
}

std::string escape_android(std::string_view text) { return escape_markup(escape_android_html(text)); }

const StringSyntax& android_syntax() {
  static const StringSyntax syntax = {decode_android, {escape_android, escape_android}};
  return syntax;
}

const StringSyntax& android_html_syntax() {
  static const StringSyntax syntax = string_syntax<decode_android, escape_android_html>();
  return syntax;
}

bool is_text_element(std::string_view name, std::string_view around) {
  return name == "string" || (name == "item" && (around == "plurals" || around == "string-array"));
}

class AndroidStrings {
 public:
  explicit AndroidStrings(std::string_view xml) : xml_(xml) {}

  Document document() && {
    XmlTokens tokens(xml_);
    std::vector<XmlToken> open;
    size_t untouched = 0;  // depth of the element that stays; 0: none does
    for (XmlToken token; tokens.next(token);) {
      document_.keep(token.bytes);
      if (token.kind == XmlKind::end) {
        if (open.size() == untouched) untouched = 0;
        open.pop_back();
      }
      if (token.kind != XmlKind::start) continue;
      const std::string_view around = open.empty() ? std::string_view() : open.back().name;
      open.push_back(token);
      if (untouched == 0 && xml_attribute(token.bytes, "translatable") == "false") untouched = open.size();
      if (untouched > 0 || !is_text_element(token.name, around)) continue;
      add(content_of(token, tokens));
      open.pop_back();
    }
    return std::move(document_).finish();
  }

 private:
  // What is in an element, and past its end.
  std::string_view content_of(const XmlToken& start, XmlTokens& tokens) {
    const auto begin = static_cast<size_t>(start.bytes.data() + start.bytes.size() - xml_.data());
    XmlToken token;
    for (size_t depth = 1; depth > 0 && tokens.next(token);)
      depth += token.kind == XmlKind::start ? 1 : token.kind == XmlKind::end ? size_t(-1) : 0;
    end_ = token.bytes;
    return xml_.substr(begin, static_cast<size_t>(token.bytes.data() - xml_.data()) - begin);
  }

  void add(std::string_view content) {
    const TextSpan inner = trimmed(content);
    std::string_view text = inner.of(content);
    const bool is_html =
        text.starts_with(cdata_begin) && text.find(cdata_end) == text.size() - cdata_end.size();
    if (is_html) text = text.substr(cdata_begin.size(), text.size() - cdata_begin.size() - cdata_end.size());
    const bool is_reference = text.starts_with('@') || text.starts_with('?');  // to another resource
    if (is_reference || (!is_html && text.find("<!") != text.npos)) {
      document_.keep(content);
    } else {
      const auto begin = static_cast<size_t>(text.data() - content.data());
      document_.keep(content.substr(0, begin));
      const FormatGrammar* const grammar = format_grammar("android-format");
      document_.add(
          text, message_parts(text, is_html ? android_html_syntax() : android_syntax(), {.grammar = grammar}),
          [grammar, is_html, text = std::string(text)](const std::string& translation) {
            return checked(*grammar, text, translation, is_html);
          });
      document_.keep(content.substr(begin + text.size()));
    }
    document_.keep(end_);
  }

  // Quotation marks that keep white space, and no text.
  static bool is_open_quoted(std::string_view bytes) {
    bool open = false;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '"') open = !open;
      if (bytes[i] == '\\') ++i;
    }
    return open;
  }

  // A closing quotation mark is lost where a text ends at it.
  static std::string checked(const FormatGrammar& grammar, const std::string& text,
                             const std::string& translation, bool is_html) {
    std::string value = with_arguments_in_order(grammar, text, translation).value_or(text);
    if (is_html && value.find(cdata_end) != value.npos) return text;
    if (is_open_quoted(value) && !is_open_quoted(text)) value += '"';
    return value.starts_with('@') || value.starts_with('?') ? '\\' + value : value;
  }

  std::string_view xml_, end_ = {};
  MessageDocument document_ = {};
};

Document android_document(std::string_view xml) { return AndroidStrings(xml).document(); }

bool is_android(std::string_view bytes) {
  const auto has = [&](std::string_view part) { return bytes.find(part) != bytes.npos; };
  return has("<resources") && has("</resources>") &&
         (has("<string ") || has("<plurals ") || has("<string-array "));
}

}  // namespace

Document read_android_strings(std::string_view bytes, const DocumentSettings& settings) {
  return read_xml(bytes, settings, android_document);
}

Document read_any_xml(std::string_view bytes, const DocumentSettings& settings) {
  return is_android(bytes) ? read_android_strings(bytes, settings) : read_plain_xml(bytes, settings);
}

}  // namespace dragoman::internal
