#include <algorithm>

#include "base/error.h"
#include "document/readers.h"
#include "document/xml/inline_codes.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;
using Tokens = std::span<const XmlToken>;

InlineCode tmx_rule(const XmlToken& tag) {
  using Kind = InlineCode::Kind;
  if (tag.name == "hi") return {Kind::tags};
  if (tag.name == "bpt") return {Kind::open, xml_attribute(tag.bytes, "i")};
  if (tag.name == "ept") return {Kind::close, xml_attribute(tag.bytes, "i")};
  return {};
}

std::string language_of(const XmlToken& variant) {
  const std::string language = xml_attribute(variant.bytes, "xml:lang");
  return language.empty() ? xml_attribute(variant.bytes, "lang") : language;  // as in version 1.1
}

class TmxReader {
 public:
  explicit TmxReader(const DocumentSettings& settings) : settings_(settings), from_(settings.from) {}

  Document read(std::string_view xml) {
    XmlTokens tokens(xml);
    for (XmlToken token; tokens.next(token);) {
      if (unit_.empty() && !(token.kind == XmlKind::start && token.name == "tu")) {
        if (token.name == "header" && from_.empty()) from_ = xml_attribute(token.bytes, "srclang");
        file_ += token.bytes;
        continue;
      }
      unit_.push_back(token);
      if (token.kind == XmlKind::end && token.name == "tu") finish_unit();
    }
    return std::move(blocks_).finish(std::move(file_));
  }

 private:
  void finish_unit() {
    const std::vector<XmlToken> tokens = std::exchange(unit_, {});
    const Tokens unit(tokens);
    const std::string own = xml_attribute(unit[0].bytes, "srclang");
    const std::string from = own.empty() || !settings_.from.empty() ? from_ : own;
    Tokens source, space;
    bool translated = false;
    for (size_t i = 1; i < unit.size(); ++i) {
      if (unit[i].kind != XmlKind::start || unit[i].name != "tuv") continue;
      const Tokens variant = unit.subspan(i, element_end(unit, i) - i);
      translated = translated || same_language(language_of(unit[i]), settings_.to);
      if (source.empty() && (from.empty() || from == "*all*" || same_language(language_of(unit[i]), from))) {
        source = variant;
        if (unit[i - 1].kind == XmlKind::text) space = unit.subspan(i - 1, 1);
      }
      i += variant.size() - 1;
    }
    if (translated || source.empty()) {
      file_ += bytes_of(unit);
      return;
    }
    const auto behind = static_cast<size_t>(source.data() - unit.data()) + source.size();
    file_ += bytes_of(unit.first(behind));
    const auto segment =
        std::ranges::find_if(source, [](const XmlToken& token) { return token.name == "seg"; });
    if (segment != source.end() && segment->kind == XmlKind::start)
      add_variant(source, static_cast<size_t>(segment - source.begin()), space);
    file_ += bytes_of(unit.subspan(behind));
  }

  void add_variant(Tokens source, size_t segment, Tokens space) {
    const size_t end = element_end(source, segment);
    const Tokens content = source.subspan(segment + 1, end - segment - 2);
    file_ += bytes_of(space);
    file_ += with_xml_attribute("<tuv>", "xml:lang", settings_.to) + "<seg>";
    file_ += blocks_.add(inline_block(content, tmx_rule)) + "</seg></tuv>";
  }

  const DocumentSettings& settings_;
  std::string from_;
  std::string file_;
  std::vector<XmlToken> unit_;  // the one being read
  Blocks blocks_;
};

}  // namespace

Document read_tmx(std::string_view bytes, const DocumentSettings& settings) {
  if (settings.to.empty())
    throw Error("{}: a TMX file does not specify a target language: give the language (to)", settings.name);
  return read_xml(bytes, settings, [&](std::string_view xml) { return TmxReader(settings).read(xml); });
}

}  // namespace dragoman::internal
