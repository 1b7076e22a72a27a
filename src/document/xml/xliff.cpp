#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "document/readers.h"
#include "document/xml/inline_codes.h"
#include "document/xml/xliff_origins.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;
using Tokens = std::span<const XmlToken>;

template <size_t n>
bool is_in(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::ranges::count(names, name) > 0;
}

// Codes of versions 1.2 and 2, whose names do not collide.
InlineCode xliff_rule(const XmlToken& tag) {
  using Kind = InlineCode::Kind;
  const std::string_view name = local_name(tag.name);
  const auto value = [&](std::string_view attribute) { return xml_attribute(tag.bytes, attribute); };
  const auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
  if (name == "mrk") {
    if (value("mtype") == "seg") return {Kind::border};
    const bool is_fixed = value("mtype") == "protected" || value("translate") == "no";
    return {is_fixed ? Kind::point : Kind::tags};
  }
  if (name == "g" || name == "pc") return {Kind::tags};
  if (name == "bx" || name == "bpt") return {Kind::open, first(value("rid"), value("id"))};
  if (name == "ex" || name == "ept") return {Kind::close, first(value("rid"), value("id"))};
  if (name == "sc") return {Kind::open, value("id")};
  if (name == "ec") return {Kind::close, first(value("startRef"), value("id"))};
  return {};
}

// The tokens of an element directly inside a unit, with its tags.
Tokens child(Tokens unit, std::string_view name) {
  for (size_t i = 1; i + 1 < unit.size();) {
    const bool is_tag = unit[i].kind == XmlKind::start || unit[i].kind == XmlKind::empty;
    const size_t end = is_tag ? element_end(unit, i) : i + 1;
    if (is_tag && local_name(unit[i].name) == name) return unit.subspan(i, end - i);
    i = end;
  }
  return {};
}

Tokens inside(Tokens element) {
  return element.size() < 2 ? Tokens() : element.subspan(1, element.size() - 2);
}

// Between its tags.
bool holds_text(Tokens element) {
  return std::ranges::any_of(inside(element), [](const XmlToken& token) {
    const bool is_text = token.kind == XmlKind::text || token.kind == XmlKind::cdata;
    return token.kind == XmlKind::entity || (is_text && trimmed(token.bytes).begin < token.bytes.size());
  });
}

// Whether a unit's translation is to stay. Tools make targets of empty segments in advance.
bool is_translated(Tokens source, Tokens target, std::string_view state) {
  if (is_white_space(bytes_of(inside(target)))) return false;
  if (holds_text(source) && !holds_text(target)) return false;
  const bool is_copy = bytes_of(inside(source)) == bytes_of(inside(target));
  return !is_copy || !is_in(state, std::to_array<std::string_view>({"new", "needs-translation", "initial"}));
}

class XliffReader {
 public:
  explicit XliffReader(const DocumentSettings& settings) : settings_(settings) {}

  Document read(std::string_view xml) {
    XmlTokens tokens(xml);
    for (XmlToken token; tokens.next(token);) add(token);
    return std::move(origins_).finish(std::move(blocks_).finish(std::move(file_)));
  }

 private:
  void add(const XmlToken& token) {
    if (!unit_.empty()) {
      unit_.push_back(token);
      if (local_name(token.name) != local_name(unit_[0].name)) return;
      if (token.kind == XmlKind::start) ++units_open_;
      if (token.kind == XmlKind::end && --units_open_ == 0) finish_unit();
      return;
    }
    const std::string_view name = local_name(token.name);
    if (token.kind == XmlKind::end) {
      translate_.pop_back();
      if (name == "unit") finish_matches();
    }
    if (token.is_tag() && name == "matches") matches_place_.reset();  // a unit has them once
    if (token.kind != XmlKind::start) {
      file_ += token.bytes;
      return;
    }
    const std::string translate = xml_attribute(token.bytes, "translate");
    const bool translated = translate.empty() ? translate_.empty() || translate_.back() : translate == "yes";
    if (name == "trans-unit" || name == "segment") {
      unit_translated_ = translated;
      unit_.push_back(token);
      units_open_ = 1;
      return;
    }
    translate_.push_back(translated);
    file_ += with_language(token);
    if (name == "unit") matches_place_ = file_.size();
  }

  // The start tag, with the language of translations if it names none.
  std::string with_language(const XmlToken& token) const {
    const std::string_view name = local_name(token.name);
    const bool is_second = name == "xliff" && xml_attribute(token.bytes, "version").starts_with('2');
    const std::string_view attribute = is_second ? "trgLang" : "target-language";
    if ((!is_second && (name != "file" || !xml_attribute_place(token.bytes, "source-language"))) ||
        settings_.to.empty() || xml_attribute_place(token.bytes, attribute))
      return std::string(token.bytes);
    return with_xml_attribute(token.bytes, attribute, settings_.to);
  }

  void finish_unit() {
    const std::vector<XmlToken> tokens = std::exchange(unit_, {});
    const Tokens unit(tokens), source = child(unit, "source"), target = child(unit, "target");
    const bool is_second = local_name(unit[0].name) == "segment";
    const std::string_view start = unit[0].bytes;
    std::string state = xml_attribute(is_second || target.empty() ? start : target[0].bytes, "state");
    if (is_second && state.empty()) state = "initial";  // version 2's default
    const bool stays = !unit_translated_ || xml_attribute(start, "approved") == "yes" ||
                       inside(source).empty() || state == "final" ||
                       (!target.empty() && is_translated(source, target, state));
    if (stays)
      file_ += bytes_of(unit);
    else
      translate_unit(unit, source, target, is_second);
  }

  void translate_unit(Tokens unit, Tokens source, Tokens target, bool is_second) {
    const std::string_view start = unit[0].bytes;
    const Tokens segmented = child(unit, "seg-source");
    const Tokens last = !target.empty() ? target : !segmented.empty() ? segmented : source;
    const Tokens from = segmented.empty() ? source : segmented;
    const auto at = static_cast<size_t>(last.data() - unit.data());
    XliffTranslation translation = {.first = blocks_.segments(), .prefix = prefix(source[0].name)};
    const std::string block = blocks_.add(inline_block(inside(from), xliff_rule));
    translation.count = blocks_.segments() - translation.first;
    const std::string_view space = indentation(unit, source);
    translation.indentation = is_second ? white_space_at_end() : space;
    if (is_second) translation.id = xml_attribute(start, "id");
    file_ += is_second ? origins_.segment_tag(std::string(start), translation) : std::string(start);
    file_ += bytes_of(unit.subspan(1, at - 1));
    if (target.empty()) file_.append(bytes_of(last)).append(space);
    const std::string name = translation.prefix + "target";
    const std::string tag = target.empty() ? "<" + name + ">" : opened(target[0].bytes);
    file_ += (is_second ? tag : origins_.target_tag(tag, translation)) + block + "</" + name + ">";
    if (is_second)
      translations_.push_back(std::move(translation));
    else
      file_ += origins_.alternatives(std::move(translation));
    file_ += bytes_of(unit.subspan(at + last.size()));
  }

  // At the beginning of the unit, whose end tag has been read.
  void finish_matches() {
    std::vector<XliffTranslation> translations = std::exchange(translations_, {});
    if (matches_place_ && !translations.empty())
      file_.insert(*matches_place_, origins_.matches(std::move(translations)));
    matches_place_.reset();
  }

  std::string white_space_at_end() const { return file_.substr(file_.find_last_not_of(" \t\r\n") + 1); }

  static std::string prefix(std::string_view name) {
    return std::string(name.substr(0, name.size() - local_name(name).size()));
  }

  // An empty tag as a start tag.
  static std::string opened(std::string_view tag) {
    if (!tag.ends_with("/>")) return std::string(tag);
    return std::string(tag.substr(0, tag.find_last_not_of(" \t\r\n", tag.size() - 3) + 1)) + ">";
  }

  // The white space before an element.
  static std::string_view indentation(Tokens unit, Tokens element) {
    const XmlToken& before = *(element.data() - 1);
    const bool is_white = element.data() != unit.data() && before.kind == XmlKind::text &&
                          before.bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
    return is_white ? before.bytes : std::string_view();
  }

  const DocumentSettings& settings_;
  std::string file_;
  std::vector<bool> translate_;  // of the elements that are open
  std::vector<XmlToken> unit_;   // that is being read
  size_t units_open_ = 0;        // it and those inside it, which no version has
  bool unit_translated_ = true;
  // Of the unit of version 2 that is being read: where its matches go, unless it has some, and what is translated.
  std::optional<size_t> matches_place_;
  std::vector<XliffTranslation> translations_;
  Blocks blocks_;
  XliffOrigins origins_;
};

}  // namespace

Document read_xliff(std::string_view bytes, const DocumentSettings& settings) {
  return read_xml(bytes, settings, [&](std::string_view xml) { return XliffReader(settings).read(xml); });
}

}  // namespace dragoman::internal
