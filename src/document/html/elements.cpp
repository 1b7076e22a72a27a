#include "document/html/elements.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

using Role = HtmlElement::Role;
using Content = HtmlElement::Content;
using Names = std::initializer_list<std::string_view>;

constexpr uint32_t max_names = 10000;  // further ones share a number

// By name.
constexpr HtmlElement known[] = {
    {"address", Role::block},
    {"area", Role::block, Content::none},
    {"article", Role::block},
    {"aside", Role::block},
    {"audio", Role::block},
    {"base", Role::block, Content::none},
    {"blockquote", Role::block},
    {"body", Role::block},
    {"br", Role::block, Content::none},
    {"button", Role::block},
    {"canvas", Role::block},
    {"caption", Role::block},
    {"center", Role::block},
    {"code", Role::fixed},
    {"col", Role::block, Content::none},
    {"colgroup", Role::block},
    {"datalist", Role::list},
    {"dd", Role::block},
    {"details", Role::block},
    {"dialog", Role::block},
    {"dir", Role::block},
    {"div", Role::block},
    {"dl", Role::block},
    {"dt", Role::block},
    {"embed", Role::point, Content::none},
    {"fieldset", Role::block},
    {"figcaption", Role::block},
    {"figure", Role::block},
    {"footer", Role::block},
    {"form", Role::block},
    {"frame", Role::block, Content::none},
    {"frameset", Role::block},
    {"h1", Role::block},
    {"h2", Role::block},
    {"h3", Role::block},
    {"h4", Role::block},
    {"h5", Role::block},
    {"h6", Role::block},
    {"head", Role::block},
    {"header", Role::block},
    {"hgroup", Role::block},
    {"hr", Role::block, Content::none},
    {"html", Role::block},
    {"iframe", Role::point, Content::raw_text},
    {"img", Role::point, Content::none},
    {"input", Role::point, Content::none},
    {"kbd", Role::fixed},
    {"label", Role::block},
    {"legend", Role::block},
    {"li", Role::block},
    {"link", Role::point, Content::none},
    {"listing", Role::block},
    {"main", Role::block},
    {"map", Role::block},
    {"math", Role::fixed, Content::foreign},
    {"menu", Role::block},
    {"meta", Role::point, Content::none},
    {"nav", Role::block},
    {"noembed", Role::point, Content::raw_text},
    {"noframes", Role::point, Content::raw_text},
    {"noscript", Role::block},
    {"object", Role::block},
    {"ol", Role::block},
    {"optgroup", Role::block},
    {"option", Role::block},
    {"p", Role::block},
    {"param", Role::block, Content::none},
    {"pre", Role::block},
    {"rp", Role::point},
    {"rt", Role::point},
    {"rtc", Role::point},
    {"samp", Role::fixed},
    {"script", Role::point, Content::raw_text},
    {"search", Role::block},
    {"section", Role::block},
    {"select", Role::list},
    {"source", Role::block, Content::none},
    {"style", Role::point, Content::raw_text},
    {"summary", Role::block},
    {"svg", Role::point, Content::foreign},
    {"table", Role::block},
    {"tbody", Role::block},
    {"td", Role::block},
    {"template", Role::point},
    {"textarea", Role::point, Content::text},
    {"tfoot", Role::block},
    {"th", Role::block},
    {"thead", Role::block},
    {"title", Role::block, Content::text},
    {"tr", Role::block},
    {"track", Role::block, Content::none},
    {"tt", Role::fixed},
    {"ul", Role::block},
    {"var", Role::fixed},
    {"video", Role::block},
    {"wbr", Role::point, Content::none},
    {"xmp", Role::point, Content::raw_text},
};

static_assert(std::ranges::is_sorted(known, {}, &HtmlElement::name));

bool is_among(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

bool ends_paragraph(std::string_view name) {
  return is_among(name, {"address", "article", "aside",   "blockquote", "center", "details",   "dialog",
                         "dir",     "div",     "dl",      "dd",         "dt",     "fieldset",  "figcaption",
                         "figure",  "footer",  "form",    "h1",         "h2",     "h3",        "h4",
                         "h5",      "h6",      "header",  "hgroup",     "hr",     "li",        "listing",
                         "main",    "menu",    "nav",     "ol",         "p",      "plaintext", "pre",
                         "search",  "section", "summary", "table",      "ul",     "xmp"});
}

const Names scope = {"caption", "html", "table", "td", "th", "object", "template", "select"};

}  // namespace

const HtmlElement& html_element(std::string_view name) {
  static constexpr HtmlElement unknown = {};
  const auto found = std::ranges::lower_bound(known, name, {}, &HtmlElement::name);
  return found != std::end(known) && found->name == name ? *found : unknown;
}

uint32_t OpenElements::number(std::string_view name) {
  if (numbers_.size() >= max_names && !numbers_.contains(std::string(name))) name = "";
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<uint32_t>(numbers_.size()));
  if (is_new) positions_.emplace_back();
  return found->second;
}

size_t OpenElements::position(std::string_view name) {
  const std::vector<uint32_t>& open = positions_[number(name)];
  return open.empty() ? 0 : open.back();
}

size_t OpenElements::last_of(Names names) {
  size_t last = 0;
  for (const std::string_view name : names) last = std::max(last, position(name));
  return last;
}

// How many elements stay open when such a start tag comes.
size_t OpenElements::kept_before(std::string_view name) {
  const auto below = [this](Names names, Names barriers) {
    const size_t last = last_of(names);
    return last > last_of(barriers) && last > last_of(scope) ? last : elements_.size();
  };
  const auto in_table = [this](Names names) {
    const size_t last = last_of(names);
    return last > position("table") ? last : elements_.size();
  };
  if (is_among(name, {"td", "th"})) return in_table({"td", "th", "caption", "colgroup"});
  if (name == "tr") return in_table({"tr", "caption", "colgroup"});
  if (is_among(name, {"tbody", "thead", "tfoot", "caption", "colgroup"}))
    return in_table({"tbody", "thead", "tfoot", "caption", "colgroup"});
  if (name == "option")
    return last_of({"option"}) > last_of({"select", "datalist"}) ? position(name) : elements_.size();
  if (name == "optgroup") {
    const size_t select = last_of({"select"}), group = position("optgroup"), option = position("option");
    return group > select ? group : option > select ? option : elements_.size();
  }
  if (name == "body") return position("head") > 0 ? position("head") : elements_.size();
  if (is_among(name, {"rt", "rp"})) return below({"rt", "rp"}, {"ruby"});
  size_t keep = elements_.size();
  if (name == "li") keep = below({"li"}, {"ul", "ol", "menu", "dir"});
  if (is_among(name, {"dd", "dt"})) keep = below({"dd", "dt"}, {"dl"});
  if (ends_paragraph(name)) keep = std::min(keep, below({"p"}, {"button"}));
  return keep;
}

// The open element that such an end tag ends.
size_t OpenElements::partner(std::string_view name) {
  const size_t found = position(name);
  const bool of_table = is_among(
      name, {"table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "html", "body", "template"});
  return of_table || found >= last_of({"td", "th", "caption", "template"}) ? found : 0;
}

void OpenElements::push(std::string_view name, OpenElement element) {
  element.name = number(name);
  positions_[element.name].push_back(static_cast<uint32_t>(elements_.size()));
  elements_.push_back(element);
}

}  // namespace dragoman::internal
