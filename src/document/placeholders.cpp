#include "document/placeholders.h"

#include <algorithm>

#include "base/ascii.h"
#include "document/document.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_placeholder_bytes = 200;

bool is_name(char c) { return is_alphanumeric(c) || c == '_'; }
bool is_one_of(char c, std::string_view set) { return set.find(c) != set.npos; }

// The functions below return how many bytes a placeholder of a kind takes at the beginning of a text, or 0.

size_t count_while(std::string_view text, bool (*is)(char)) {
  return static_cast<size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

// After %: 1$, flags, width, precision, length and conversion. A space is not a flag here: "100% sure".
size_t conversion(std::string_view text) {
  size_t at = 0;
  const auto skip = [&](bool (*is)(char)) { at += count_while(text.substr(at), is); };
  if (const size_t digits = count_while(text, is_digit); digits > 0 && text.substr(digits).starts_with('$'))
    at = digits + 1;
  skip([](char c) { return is_one_of(c, "-+#0'"); });
  skip([](char c) { return is_digit(c) || c == '*' || c == '.'; });
  skip([](char c) { return is_one_of(c, "hlqjzt"); });
  if (at < text.size() && is_one_of(text[at], "diouxXeEfFgGaAcsSpn@") &&
      (at + 1 == text.size() || !is_name(text[at + 1])))
    return at + 1;
  return 0;
}

size_t percent(std::string_view text) {
  if (text.size() < 2 || text[0] != '%') return 0;
  if (text[1] == '%') return 2;
  if (text[1] == '(') {
    const size_t name =
        count_while(text.substr(2), [](char c) { return is_name(c) || c == '.' || c == '-'; });
    if (name > 0 && text.substr(2 + name).starts_with(')')) {
      const size_t type = conversion(text.substr(3 + name));
      return type > 0 ? 3 + name + type : 0;
    }
  }
  if (const size_t type = conversion(text.substr(1)); type > 0) return 1 + type;
  const size_t letter = text[1] == 'L' ? 1 : 0;
  const size_t digits = count_while(text.substr(1 + letter), is_digit);
  return digits == 1 || digits == 2 ? 1 + letter + digits : 0;
}

// A name, an expression without white space, or a name with a format after a comma or colon: "{0, number}".
bool is_in_braces(std::string_view inner) {
  if (inner.empty()) return true;
  const size_t name = count_while(inner, [](char c) { return is_name(c) || is_one_of(c, ".$@-[]#"); });
  if (name == inner.size()) return true;
  return name > 0 && is_one_of(inner[name], ",:!|(?");
}

size_t braces(std::string_view text) {
  const size_t sigil = !text.empty() && is_one_of(text[0], "$%#") ? 1 : 0;
  const std::string_view rest = text.substr(sigil, max_placeholder_bytes);
  if (rest.starts_with("{{")) {
    const size_t end = rest.find("}}");
    const std::string_view inner = rest.substr(0, end);
    if (end != rest.npos && inner.find_first_of("\n\r") == inner.npos)
      return sigil + end + (rest.substr(end).starts_with("}}}") ? 3 : 2);
  }
  if (!rest.starts_with('{')) return 0;
  const size_t end = rest.find_first_of("{}\n\r", 1);
  return end != rest.npos && rest[end] == '}' && is_in_braces(rest.substr(1, end - 1)) ? sigil + end + 1 : 0;
}

size_t dollar(std::string_view text) {
  if (!text.starts_with('$')) return 0;
  if (text.starts_with("$t(")) {
    const size_t end = text.substr(0, max_placeholder_bytes).find(')');
    return end != text.npos ? end + 1 : 0;
  }
  const size_t name = count_while(text.substr(1), is_name);
  return name > 0 && !is_digit(text[1]) && text.substr(1 + name).starts_with('$') ? name + 2 : 0;
}

bool is_in_address(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_one_of(c, "<>\"`{}|\\^") &&
         static_cast<unsigned char>(c) < 0x80;
}

size_t web_address(std::string_view text) {
  size_t start = 0;
  for (const std::string_view scheme : {"https://", "http://", "ftp://", "mailto:", "www."}) {
    if (text.starts_with(scheme)) start = scheme.size();
  }
  if (start == 0) return 0;
  size_t end = start + count_while(text.substr(start), is_in_address);
  const std::string_view all = text.substr(0, end);
  const bool brackets = all.find('(') != all.npos;
  while (end > start && (is_one_of(text[end - 1], ".,;:!?'*_") || (text[end - 1] == ')' && !brackets))) --end;
  return end > start ? end : 0;
}

bool is_in_mailbox(char c) { return is_name(c) || is_one_of(c, ".+-"); }

size_t mail_address(std::string_view text) {
  const size_t box = count_while(text, is_in_mailbox);
  if (box == 0 || !text.substr(box).starts_with('@')) return 0;
  const std::string_view rest = text.substr(box + 1);
  size_t domain = count_while(rest, [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; });
  while (domain > 0 && is_one_of(rest[domain - 1], ".-")) --domain;
  return rest.substr(0, domain).find('.') != rest.npos ? box + 1 + domain : 0;
}

}  // namespace

std::vector<TextSpan> find_placeholders(std::string_view text) {
  std::vector<TextSpan> found;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const char before = at > 0 ? text[at - 1] : ' ';
    size_t size = 0;
    if (is_one_of(rest[0], "{$%#")) {
      size = std::max(braces(rest), dollar(rest));
      if (size == 0 && !is_digit(before)) size = percent(rest);
    } else if (is_name(rest[0]) && !is_name(before)) {
      size = std::max(web_address(rest), is_in_mailbox(before) ? 0 : mail_address(rest));
    }
    if (size > 0) found.push_back({at, at + size});
    at += std::max<size_t>(size, 1);
  }
  return found;
}

std::vector<std::string_view> sorted_placeholders(std::string_view text) {
  std::vector<std::string_view> all;
  for (const TextSpan& place : find_placeholders(text)) all.push_back(place.of(text));
  std::ranges::sort(all);
  return all;
}

bool is_only_placeholders(std::string_view text) {
  size_t at = 0;
  for (const TextSpan placeholder : find_placeholders(text)) {
    if (has_letters(text.substr(at, placeholder.begin - at))) return false;
    at = placeholder.end;
  }
  return !has_letters(text.substr(at));
}

}  // namespace dragoman::internal
