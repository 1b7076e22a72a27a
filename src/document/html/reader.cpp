#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lines.h"
#include "document/encodings.h"
#include "document/html/attributes.h"
#include "document/html/elements.h"
#include "document/html/text.h"
#include "document/html/tokens.h"
#include "document/readers.h"
#include "document/segments/builder.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

using Role = HtmlElement::Role;
using Content = HtmlElement::Content;
using Names = std::initializer_list<std::string_view>;

constexpr size_t max_depth = 1'000'000, max_nested = 50, max_shown = 1000;

class Reader {
 public:
  Reader(std::string_view bytes, const DocumentSettings& settings)
      : bytes_(bytes), settings_(settings), xml_(bytes.starts_with("<?xml")), lexer_(bytes, xml_) {}

  Document read() && {
    while (const std::optional<HtmlToken> token = lexer_.next()) {
      switch (token->kind) {
        case HtmlToken::Kind::text:
          token->rcdata ? rcdata(*token) : text(*token);
          break;
        case HtmlToken::Kind::start:
          start(*token);
          break;
        case HtmlToken::Kind::end:
          end(*token);
          break;
        case HtmlToken::Kind::comment:
          comment(*token);
          break;
      }
    }
    open_.end_all([this](const OpenElement& element, bool) { ended(element); });
    return std::move(builder_).finish();
  }

 private:
  // A tag or comment that is not part of a pair.
  void place(std::string_view bytes) {
    if (open_.state().untouched)
      builder_.border(bytes);
    else
      builder_.point(bytes);
  }

  // Also a template's statement, whose order matters, or an expression of one, which shows a word.
  void comment(const HtmlToken& token) {
    const std::string_view bytes = token.bytes;
    const auto is_any_of = [&](Names beginnings) {
      return std::ranges::any_of(beginnings,
                                 [&](std::string_view begin) { return bytes.starts_with(begin); });
    };
    if (xml_ && bytes.data() == bytes_.data())
      builder_.border(rewritten(token, HtmlAttributes(token), false));  // the declaration
    else if (open_.state().untouched)
      builder_.border(bytes);
    else if (is_any_of({"<?=", "<%=", "<?php echo ", "<?php print "}))
      builder_.fixed(bytes, "");
    else if (is_any_of({"<?", "<%", "{%"}))
      builder_.border(bytes);
    else
      builder_.point(bytes);
  }

  void rcdata(const HtmlToken& token) {
    HtmlLexer lexer = HtmlLexer::of_rcdata(token.bytes);
    while (const std::optional<HtmlToken> part = lexer.next())
      part->kind == HtmlToken::Kind::text ? text(*part) : comment(*part);
  }

  void text(const HtmlToken& token) {
    std::string_view rest = token.bytes;
    if (open_.state().untouched) {
      add_shown(token);
      return builder_.border(rest);
    }
    if (!shown_.empty()) shown_.back().reset();
    if (!open_.state().lines) return characters(rest, token.literal);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      line(rest.substr(0, end), token.literal);
      if (end == rest.size()) return;
      builder_.border("\n");
      rest.remove_prefix(end + 1);
    }
  }

  // Of preformatted text. Its columns stay where they are.
  void line(std::string_view rest, bool literal) {
    if (looks_like_code(rest)) return builder_.border(rest);
    while (!rest.empty()) {
      const auto [begin, end] = first_gap(rest);
      characters(rest.substr(0, begin), literal);
      if (begin < end) builder_.border(rest.substr(begin, end - begin));
      rest.remove_prefix(end);
    }
  }

  void characters(std::string_view rest, bool literal) {
    for (size_t end = 0; !rest.empty();) {
      end = std::min(rest.find('&', end), rest.size());
      const auto reference =
          end < rest.size() && !literal ? references_.at_beginning_of(rest.substr(end)) : std::nullopt;
      if (end < rest.size() && !reference) {
        ++end;
        continue;
      }
      if (end > 0) builder_.text(rest.substr(0, end));
      rest.remove_prefix(end);
      if (reference) builder_.text(rest.substr(0, reference->size), reference->decoded);
      rest.remove_prefix(reference ? reference->size : 0);
      end = 0;
    }
  }

  // How the words of an untranslated element read.
  void add_shown(const HtmlToken& token) {
    if (shown_.empty() || !shown_.back()) return;
    std::string_view rest = token.bytes;
    if (open_.state().foreign || shown_.back()->size() + rest.size() > max_shown)
      return shown_.back().reset();
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('&'), rest.size());
      *shown_.back() += rest.substr(0, end);
      rest.remove_prefix(end);
      const auto reference = rest.empty() ? std::nullopt : references_.at_beginning_of(rest);
      if (!rest.empty()) *shown_.back() += reference ? reference->decoded : "&";
      rest.remove_prefix(rest.empty() ? 0 : reference ? reference->size : 1);
    }
  }

  void start(const HtmlToken& token) {
    const auto ended = [this](const OpenElement& element, bool) { this->ended(element); };
    if (!open_.state().foreign) open_.end_implied(token.name, ended);
    const HtmlState around = open_.state();
    const HtmlElement& element = html_element(token.name);
    const HtmlAttributes attributes(token);
    OpenElement opened = {.state = inside(element, token, attributes)};
    const bool has_content =
        element.content != Content::none && !(token.empty && (xml_ || opened.state.foreign));
    const bool own_text = attributes.translate().value_or(!around.untouched) && !around.foreign;
    const std::string tag = rewritten(token, attributes, own_text);
    if (!has_content) return tag_without_content(element, tag);

    opened.scope = opened.state != around;
    const bool is_inline = element.role != Role::block && !around.untouched;
    opened.nested =
        is_inline && shown_.size() < max_nested && (opened.state.untouched || element.role == Role::list);
    opened.shows = element.role == Role::fixed || element.role == Role::inline_;
    opened.scope |= opened.nested;
    if (opened.nested) begin_nested();
    if (opened.nested || around.untouched || opened.state.untouched || element.role == Role::block ||
        element.role == Role::list)
      builder_.border(tag);
    else
      builder_.open(tag, token.name);
    push(token, opened, element);
  }

  HtmlState inside(const HtmlElement& element, const HtmlToken& token,
                   const HtmlAttributes& attributes) const {
    HtmlState state = open_.state();
    if (state.foreign) return state;
    state.foreign = element.content == Content::foreign;
    const std::optional<bool> translate = attributes.translate();
    if (translate) state.untouched = !*translate;
    if (token.name == "pre") state.lines = true;
    const bool is_opaque = element.role == Role::point || element.role == Role::fixed ||
                           (token.name == "pre" && attributes.shows_code());
    const bool always = element.content != Content::normal;
    if (is_opaque && (always || translate != true)) state.untouched = true;
    return state;
  }

  void tag_without_content(const HtmlElement& element, std::string_view tag) {
    if (element.role == Role::block)
      builder_.border(tag);
    else
      place(tag);
  }

  void begin_nested() {
    builder_.begin_nested();
    if (!shown_.empty()) shown_.back().reset();
    shown_.emplace_back("");
  }

  void push(const HtmlToken& token, const OpenElement& opened, const HtmlElement& element) {
    open_.push(token.name, opened);
    if (open_.depth() > max_depth)
      throw Error("{}: line {}: more than {} elements are open: close them, or remove what is not HTML",
                  settings_.name, 1 + std::ranges::count(bytes_.substr(0, lexer_.at()), '\n'), max_depth);
    lexer_.set_foreign(opened.state.foreign);
    if (!opened.state.foreign && (element.content == Content::raw_text || element.content == Content::text))
      lexer_.read_raw_text(token.name, element.content == Content::raw_text);
    set_white_space();
  }

  void end(const HtmlToken& token) {
    bool written = false;
    const bool found = open_.end(token.name, [&](const OpenElement& element, bool own_tag) {
      written |= own_tag && element.nested;
      if (own_tag && element.nested) builder_.border(token.bytes);
      ended(element);
    });
    if (written) return;
    if (!found && open_.state().foreign) return builder_.border(token.bytes);
    if (open_.state().untouched || html_element(token.name).role == Role::block)
      builder_.border(token.bytes);
    else
      builder_.close(token.bytes, token.name);
  }

  void ended(const OpenElement& element) {
    if (element.nested) {
      const std::string shown = shown_.back().value_or("");
      shown_.pop_back();
      builder_.end_nested(element.shows ? std::optional<std::string_view>(shown) : std::nullopt);
    }
    lexer_.set_foreign(open_.state().foreign);
    set_white_space();
  }

  void set_white_space() {
    if (std::exchange(lines_, open_.state().lines) == open_.state().lines) return;
    builder_.border("");
    builder_.set_white_space(lines_ ? WhiteSpace::kept : WhiteSpace::collapsed);
  }

  // The tag with the translation's encoding; if its own text is translated, also with the language, and with segments
  // in place of its attributes' texts.
  std::string rewritten(const HtmlToken& token, const HtmlAttributes& attributes, bool own_text) {
    const auto value_of = [&](const MarkupAttribute& attribute) { return attribute.value.of(token.bytes); };
    std::vector<std::pair<TextSpan, std::string>> changes;
    const std::vector<TextSpan> encodings = attributes.encodings();
    for (const TextSpan& encoding : encodings) changes.emplace_back(encoding, "utf-8");
    if (own_text && token.name == "html") {
      for (const MarkupAttribute& language : attributes.languages())
        if (is_from(value_of(language))) changes.emplace_back(language.value, settings_.to);
    } else if (own_text) {
      for (const MarkupAttribute& text : attributes.texts()) {
        if (std::ranges::any_of(encodings, [&](const TextSpan& encoding) {
              return text.value.begin <= encoding.begin && encoding.end <= text.value.end;
            }))
          continue;
        if (const std::optional<std::string> decoded = decode_html_attribute(value_of(text)))
          changes.emplace_back(
              text.value, builder_.attribute(value_of(text), *decoded, html_attribute_escape(text.quote)));
      }
    }
    std::ranges::sort(changes, {}, [](const auto& change) { return change.first.begin; });
    std::string tag;
    size_t at = 0;
    for (const auto& [place, by] : changes) {
      if (place.begin < at) continue;  // they overlap
      tag += token.bytes.substr(at, place.begin - at);
      tag += by;
      at = place.end;
    }
    return tag += token.bytes.substr(at);
  }

  // Whether the page's language is the source language, which then becomes the target language. A template's
  // expression stays.
  bool is_from(std::string_view language) const {
    if (settings_.to.empty() || language.empty() || language.find_first_of("<{") != language.npos)
      return false;
    return settings_.from.empty() || same_language(language, settings_.from);
  }

  const std::string_view bytes_;
  const DocumentSettings& settings_;
  const bool xml_;
  HtmlLexer lexer_;
  HtmlReferences references_;
  OpenElements open_;
  SegmentBuilder builder_{{.escape = escape_markup}};
  std::vector<std::optional<std::string>> shown_;  // by nested element; none: unknown
  bool lines_ = false;
};

// As browsers look for it: behind the first charset= of a page's beginning, or else behind the encoding= of its XML
// declaration. Empty: neither is there.
std::string_view declared_encoding(std::string_view beginning) {
  std::string_view searched = beginning, name = "charset=";
  if (searched.find(name) == searched.npos && searched.starts_with("<?xml")) {
    searched = searched.substr(0, searched.find("?>"));
    name = "encoding=";
  }
  const size_t found = searched.find(name);
  if (found == searched.npos) return "";
  const std::string_view value = stripped(searched.substr(found + name.size()), " \"'");
  return value.substr(0, value.find_first_of(" \"'/>;?"));
}

// That a page is in which is not UTF-8; empty: it names none.
std::string other_encoding(std::string_view bytes) {
  const bool is_utf8 = is_text(bytes);
  if (is_utf8 && bytes.find('\x1b') == bytes.npos) return "";
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return "UTF-16";
  const std::string beginning = in_lower_case(bytes.substr(0, 1024));
  const std::string_view name = declared_encoding(beginning);
  if (is_same_encoding(name, "utf-8")) return "";
  if (is_utf8 && !name.starts_with("iso-2022-")) return "";  // whose bytes are ASCII's
  // Latin-1 is for browsers what Windows makes of it.
  const bool latin = is_same_encoding(name, "iso-8859-1") || is_same_encoding(name, "us-ascii");
  return latin ? "windows-1252" : std::string(name);
}

}  // namespace

Document read_html(std::string_view bytes, const DocumentSettings& settings) {
  if (const std::string encoding = other_encoding(bytes); !encoding.empty()) {
    const std::string utf8 = converted_to_utf8(bytes, encoding, settings);
    return read_from_other_bytes(Reader(utf8, settings).read(), bytes);
  }
  check_utf8(bytes, settings);
  return read_after_mark(bytes, [&](std::string_view page) { return Reader(page, settings).read(); });
}

}  // namespace dragoman::internal
