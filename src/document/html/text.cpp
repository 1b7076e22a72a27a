#include "document/html/text.h"

#include <gumbo.h>

#include <algorithm>
#include <memory>

#include "base/ascii.h"
#include "document/document.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_reference = 40, max_references_kept = 10000;

struct Parsed {
  explicit Parsed(const std::string& html, GumboTag context) : html_(html) {
    options_.fragment_context = context;
    options_.max_errors = 0;
    output_ = gumbo_parse_with_options(&options_, html_.data(), html_.size());
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
  ~Parsed() { gumbo_destroy_output(&options_, output_); }

  const GumboNode* first() const {
    const GumboVector& children = output_->root->v.element.children;
    return children.length > 0 ? static_cast<const GumboNode*>(children.data[0]) : nullptr;
  }

 private:
  const std::string html_;
  GumboOptions options_ = kGumboDefaultOptions;
  GumboOutput* output_;
};

}  // namespace

std::optional<HtmlReferences::Reference> HtmlReferences::at_beginning_of(std::string_view text) {
  size_t size = 1;
  if (size < text.size() && text[size] == '#') ++size;
  while (size < std::min(text.size(), max_reference) && is_alphanumeric(text[size])) ++size;
  if (size < text.size() && text[size] == ';') ++size;
  const std::string bytes(text.substr(0, size));
  if (size < 3) return std::nullopt;
  if (decoded_.size() >= max_references_kept) decoded_.clear();
  std::string& decoded = decoded_[bytes];
  if (decoded.empty()) {
    const Parsed parsed(bytes, GUMBO_TAG_TEXTAREA);
    const GumboNode* node = parsed.first();
    decoded = node != nullptr && (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE)
                  ? node->v.text.text
                  : bytes;
  }
  if (decoded == bytes) return std::nullopt;
  return Reference{.size = size, .decoded = decoded};
}

TextSpan first_gap(std::string_view line) {
  constexpr std::string_view in_a_line = " \t\r";
  for (size_t begin = 0; begin < line.size();) {
    begin = std::min(line.find_first_of(in_a_line, begin), line.size());
    const size_t end = std::min(line.find_first_not_of(in_a_line, begin), line.size());
    if (begin < end && line.substr(begin, end - begin) != " ") return {begin, end};
    begin = end;
  }
  return {line.size(), line.size()};
}

bool looks_like_code(std::string_view line) {
  const std::string_view text = stripped(line, " \t\r");
  if (text.empty()) return false;
  // A reference such as &gt; ends no statement.
  const bool ends_reference =
      text.back() == ';' && text.find_last_of("& ") != text.npos && text[text.find_last_of("& ")] == '&';
  if (text.back() == '{' || text.back() == '}' || (text.back() == ';' && !ends_reference)) return true;
  constexpr std::string_view signs[] = {"()", "( )", "==", "!=", "::", " = ", "+=", "&lt;/", "#include"};
  return std::ranges::any_of(signs, [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

std::optional<std::string> decode_html_attribute(std::string_view value) {
  if (value.find('&') == value.npos) return std::string(value);
  const char quote = value.find('"') == value.npos ? '"' : '\'';
  if (value.find(quote) != value.npos) return std::nullopt;
  std::string html = "<a b=";
  ((html += quote) += value) += quote;
  const Parsed parsed(html + ">", GUMBO_TAG_BODY);
  const GumboNode* node = parsed.first();
  if (node == nullptr || node->type != GUMBO_NODE_ELEMENT) return std::nullopt;
  const GumboAttribute* attribute = gumbo_get_attribute(&node->v.element.attributes, "b");
  if (attribute == nullptr) return std::nullopt;
  return attribute->value;
}

std::string (*html_attribute_escape(char quote))(std::string_view) {
  static constexpr auto in_double = [](std::string_view value) {
    return escaped(escape_markup(value), {{'"', "&quot;"}});
  };
  if (quote == '"') return in_double;
  if (quote == '\'')
    return [](std::string_view value) { return escaped(escape_markup(value), {{'\'', "&#39;"}}); };
  return [](std::string_view value) { return '"' + in_double(value) + '"'; };
}

}  // namespace dragoman::internal
