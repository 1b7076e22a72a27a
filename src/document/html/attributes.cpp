#include "document/html/attributes.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_of_encoding_name(char c) {
  return is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ':';
}

bool is_any_of(std::string_view name, Names names) {
  return std::ranges::any_of(names, [&](std::string_view other) { return same_ignoring_case(name, other); });
}

template <typename Found>
bool any_word(std::string_view text, const Found& found) {
  while (!text.empty()) {
    const size_t begin = std::min(text.find_first_not_of(" \t\n\f\r"), text.size());
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(" \t\n\f\r"), text.size());
    if (end > 0 && found(text.substr(0, end))) return true;
    text.remove_prefix(end);
  }
  return false;
}

}  // namespace

HtmlAttributes::HtmlAttributes(const HtmlToken& tag) : tag_(tag), attributes_(attributes(tag.bytes)) {}

bool HtmlAttributes::is(const MarkupAttribute& attribute, std::string_view name) const {
  return same_ignoring_case(attribute.name, name);
}

std::string_view HtmlAttributes::value(std::string_view name) const {
  for (const MarkupAttribute& attribute : attributes_)
    if (is(attribute, name)) return attribute.value.of(tag_.bytes);
  return {};
}

std::optional<bool> HtmlAttributes::translate() const {
  for (const MarkupAttribute& attribute : attributes_) {
    if (!is(attribute, "translate")) continue;
    if (same_ignoring_case(value("translate"), "no")) return false;
    if (same_ignoring_case(value("translate"), "yes") || value("translate").empty()) return true;
  }
  if (any_word(value("class"), [](std::string_view word) { return word == "notranslate"; })) return false;
  return std::nullopt;
}

bool HtmlAttributes::shows_code() const {
  return any_word(value("class"), [](std::string_view word) {
    return is_any_of(word, {"code", "sourcecode", "highlight", "programlisting", "screen", "synopsis", "src",
                            "listing", "literal-block", "prettyprint"}) ||
           word.starts_with("language-") || word.starts_with("brush:");
  });
}

bool HtmlAttributes::is_text(const MarkupAttribute& attribute) const {
  if (is(attribute, "title"))
    return !is_any_of(tag_.name, {"link", "style"});  // there it names a style sheet
  if (is_any_of(attribute.name, {"aria-label", "aria-description", "aria-placeholder", "aria-roledescription",
                                 "aria-valuetext"}))
    return true;
  if (is(attribute, "alt")) return is_any_of(tag_.name, {"img", "area", "input"});
  if (is(attribute, "placeholder")) return is_any_of(tag_.name, {"input", "textarea"});
  if (is(attribute, "label")) return is_any_of(tag_.name, {"option", "optgroup", "track"});
  if (is(attribute, "summary")) return tag_.name == "table";
  if (is(attribute, "value"))
    return tag_.name == "input" && is_any_of(value("type"), {"submit", "button", "reset"});
  return is(attribute, "content") && tag_.name == "meta" &&
         (is_any_of(value("name"), {"description", "keywords", "twitter:title", "twitter:description"}) ||
          is_any_of(value("property"), {"og:title", "og:description", "og:image:alt"}));
}

bool HtmlAttributes::has_template() const {
  const std::string_view inner = tag_.bytes.substr(1);
  return std::ranges::any_of(Names{"<?", "<%", "{%"},
                             [&](std::string_view begin) { return inner.find(begin) != inner.npos; });
}

std::vector<MarkupAttribute> HtmlAttributes::texts() const {
  std::vector<MarkupAttribute> found;
  if (has_template()) return found;
  std::ranges::copy_if(attributes_, std::back_inserter(found),
                       [this](const MarkupAttribute& attribute) { return is_text(attribute); });
  return found;
}

// <?xml encoding="…"?>, <meta charset="…">, or <meta http-equiv="content-type" content="text/html; charset=…">,
// but not what a template puts there.
std::vector<TextSpan> HtmlAttributes::encodings() const {
  std::vector<TextSpan> places;
  const bool is_declaration = tag_.bytes.starts_with("<?xml");
  if ((tag_.name != "meta" && !is_declaration) || has_template()) return places;
  const auto add = [&](size_t begin, size_t end) {
    const std::string_view name = tag_.bytes.substr(begin, end - begin);
    if (!name.empty() && std::ranges::all_of(name, is_of_encoding_name) && !same_ignoring_case(name, "utf-8"))
      places.push_back({begin, end});
  };
  for (const MarkupAttribute& attribute : attributes_) {
    const auto [begin, end] = attribute.value;
    if (is(attribute, is_declaration ? "encoding" : "charset")) add(begin, end);
    if (!is(attribute, "content") || !same_ignoring_case(value("http-equiv"), "content-type")) continue;
    const std::string_view content = tag_.bytes.substr(begin, end - begin);
    constexpr std::string_view before = "charset=";
    const auto found = std::search(content.begin(), content.end(), before.begin(), before.end(),
                                   [](char a, char b) { return lower_letter(a) == b; });
    if (found == content.end()) continue;
    const auto name = static_cast<size_t>(found - content.begin()) + before.size();
    add(begin + name, begin + std::min(content.find_first_of("; \t", name), content.size()));
  }
  return places;
}

std::vector<MarkupAttribute> HtmlAttributes::languages() const {
  std::vector<MarkupAttribute> found;
  std::ranges::copy_if(attributes_, std::back_inserter(found), [](const MarkupAttribute& attribute) {
    return is_any_of(attribute.name, {"lang", "xml:lang"});
  });
  return found;
}

}  // namespace dragoman::internal
