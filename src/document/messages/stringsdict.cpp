// Plural rules of macOS and iOS (.stringsdict): a property list of dictionaries, whose strings are texts.
#include <algorithm>

#include "base/error.h"
#include "document/messages/message_document.h"
#include "document/readers.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;

// Their strings name kinds of rules and of numbers.
bool names_rule(std::string_view key) {
  return key == "NSStringFormatSpecTypeKey" || key == "NSStringFormatValueTypeKey";
}

class StringsDict {
 public:
  explicit StringsDict(std::string_view xml) : xml_(xml) {}

  Document document() && {
    XmlTokens tokens(xml_);
    std::string_view key;  // before a value
    for (XmlToken token; tokens.next(token);) {
      document_.keep(token.bytes);
      if (token.kind != XmlKind::start) continue;
      const bool is_text = token.name == "string" && !names_rule(key);
      key = {};
      if (!is_text && token.name != "key") continue;
      const Content content = content_of(token, tokens);
      if (token.name == "key") key = content.text;
      if (is_text && content.is_plain) {
        document_.add_format(content.text, {decode_as_is, {escape_xml, escape_xml}},
                             *format_grammar("apple-format"));
      } else {
        document_.keep(content.text);
      }
      document_.keep(content.end);
    }
    return std::move(document_).finish();
  }

 private:
  struct Content {
    std::string_view text, end;  // up to the next end tag
    bool is_plain = true;        // without comments and the like
  };

  Content content_of(const XmlToken& start, XmlTokens& tokens) const {
    const auto begin = static_cast<size_t>(start.bytes.data() + start.bytes.size() - xml_.data());
    Content content;
    XmlToken token;
    while (tokens.next(token) && token.kind != XmlKind::end) content.is_plain &= token.kind == XmlKind::text;
    content.text = xml_.substr(begin, static_cast<size_t>(token.bytes.data() - xml_.data()) - begin);
    content.end = token.bytes;
    return content;
  }

  std::string_view xml_;
  MessageDocument document_ = {};
};

Document stringsdict_document(std::string_view xml) { return StringsDict(xml).document(); }

}  // namespace

Document read_stringsdict(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.starts_with("bplist"))
    throw Error("{}: this is a binary property list: convert it with \"plutil -convert xml1\"",
                settings.name);
  return read_xml(bytes, settings, stringsdict_document);
}

}  // namespace dragoman::internal
