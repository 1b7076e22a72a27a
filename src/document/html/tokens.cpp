#include "document/html/tokens.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view html_space = " \t\n\f\r", html_space_or_end = " \t\n\f\r/>";
constexpr size_t max_name = 64;
constexpr std::string_view closing[] = {"-->", "?>", "%>", "%}", "#}", "]]>"};

bool begins_with(std::string_view text, std::string_view name) {
  return std::ranges::equal(text.substr(0, name.size()), name, {}, lower_letter);
}

}  // namespace

std::optional<size_t> HtmlLexer::after(Closer closer, size_t from) {
  if (absent_[closer]) return std::nullopt;
  const size_t found = bytes_.find(closing[closer], from);
  absent_[closer] = found == bytes_.npos;
  if (absent_[closer]) return std::nullopt;
  return found + closing[closer].size();
}

// The end of a tag, whose attributes may contain > in quotes, and PHP or ASP with quotes of its own.
size_t HtmlLexer::tag_end(size_t from) {
  size_t at = bytes_.find_first_of(html_space_or_end, from);
  while (at < bytes_.size() && bytes_[at] != '>') {
    at = bytes_.find_first_not_of(" \t\n\f\r/", at);
    if (at >= bytes_.size() || bytes_[at] == '>') break;
    at = bytes_.find_first_of(" \t\n\f\r/=>", at + 1);
    if (at >= bytes_.size()) break;
    const size_t equals = bytes_.find_first_not_of(html_space, at);
    if (equals >= bytes_.size() || bytes_[equals] != '=') continue;
    at = bytes_.find_first_not_of(html_space, equals + 1);
    if (at >= bytes_.size() || bytes_[at] == '>') break;
    const char quote = bytes_[at];
    if (quote != '"' && quote != '\'') {
      at = bytes_.find_first_of(" \t\n\f\r>", at);
      continue;
    }
    const char stops[] = {quote, '<', 0};
    for (++at; (at = bytes_.find_first_of(stops, at)) < bytes_.size() && bytes_[at] == '<';) {
      const std::string_view rest = bytes_.substr(at);
      const bool is_php = rest.starts_with("<?php") || rest.starts_with("<?="),
                 is_asp = rest.starts_with("<%");
      at = (is_php ? after(php, at) : is_asp ? after(asp, at + 2) : std::nullopt).value_or(at + 1);
    }
    if (at < bytes_.size()) ++at;
  }
  return at < bytes_.size() ? at + 1 : bytes_.size();
}

// Where the markup ends that begins there, if it is markup.
std::optional<size_t> HtmlLexer::markup_end(size_t from) {
  const std::string_view rest = bytes_.substr(from);
  if (rest.starts_with("{%")) return after(jinja_statement, from + 2);
  if (rest.starts_with("{#")) return after(jinja_comment, from + 2);
  if (rest.size() < 2 || rest[0] != '<') return std::nullopt;
  if (rest[1] == '%') return after(asp, from + 2);
  if (!has_tags_) return rest[1] == '?' ? after(php, from + 2) : std::nullopt;
  if (is_letter(rest[1])) return tag_end(from + 1);
  if (rest[1] == '/' && rest.size() == 2) return std::nullopt;
  if (rest[1] == '/' && is_letter(rest[2])) return tag_end(from + 2);
  if (rest[1] != '/' && rest[1] != '!' && rest[1] != '?') return std::nullopt;
  const auto or_all = [this](std::optional<size_t> end) { return end.value_or(bytes_.size()); };
  if (rest.starts_with("<!-->")) return from + 5;
  if (rest.starts_with("<!--->")) return from + 6;
  if (rest.starts_with("<!--")) {
    const size_t other = bytes_.substr(0, or_all(after(comment, from + 4))).find("--!>", from + 4);
    return other != bytes_.npos ? other + 4 : or_all(after(comment, from + 4));
  }
  if (rest.starts_with("<![CDATA[") && (xml_ || foreign_)) return or_all(after(cdata, from + 9));
  if (rest.starts_with("<?php") || rest.starts_with("<?=") || rest.starts_with("<?xml"))
    return or_all(after(php, from + 2));
  return std::min(bytes_.find('>', from), bytes_.size() - 1) + 1;
}

HtmlToken HtmlLexer::tag(size_t end) {
  HtmlToken token = {.kind = HtmlToken::Kind::comment, .bytes = bytes_.substr(at_, end - at_)};
  at_ = end;
  const size_t name = token.bytes[0] == '<' && token.bytes[1] == '/' ? 2 : 1;
  if (token.bytes[0] != '<' || name >= token.bytes.size() || !is_letter(token.bytes[name])) return token;
  if (!token.bytes.ends_with('>')) return token;  // the file ends inside the tag, so it is not one
  token.kind = name == 2 ? HtmlToken::Kind::end : HtmlToken::Kind::start;
  token.empty = token.bytes.ends_with("/>");
  const size_t name_end = std::min(token.bytes.find_first_of(html_space_or_end, name), name + max_name);
  token.name = token.bytes.substr(name, name_end - name);
  std::ranges::transform(token.name, token.name.begin(), lower_letter);
  return token;
}

HtmlToken HtmlLexer::raw_text() {
  size_t end = at_;
  for (;; ++end) {
    end = std::min(bytes_.find("</", end), bytes_.size());
    const std::string_view rest = bytes_.substr(std::min(end + 2, bytes_.size()));
    const bool fits = begins_with(rest, raw_name_) && rest.size() > raw_name_.size() &&
                      html_space_or_end.find(rest[raw_name_.size()]) != html_space_or_end.npos;
    if (end == bytes_.size() || fits) break;
  }
  const std::string_view text = bytes_.substr(at_, end - at_);
  at_ = end;
  raw_name_.clear();
  return {.kind = HtmlToken::Kind::text, .bytes = text, .literal = raw_literal_, .rcdata = !raw_literal_};
}

void HtmlLexer::read_raw_text(std::string_view name, bool literal) {
  raw_name_ = name;
  raw_literal_ = literal;
}

std::optional<HtmlToken> HtmlLexer::next() {
  if (at_ == bytes_.size()) return std::nullopt;
  if (!raw_name_.empty()) {
    HtmlToken text = raw_text();
    if (!text.bytes.empty()) return text;
  }
  for (size_t end = at_;; ++end) {
    end = std::min(bytes_.find_first_of("<{", end), bytes_.size());
    if (end < bytes_.size() && end > at_ && !markup_end(end)) continue;
    if (end > at_) {
      const std::string_view text = bytes_.substr(at_, end - at_);
      at_ = end;
      return HtmlToken{.kind = HtmlToken::Kind::text, .bytes = text};
    }
    if (const std::optional<size_t> markup = markup_end(at_)) return tag(*markup);
  }
}

}  // namespace dragoman::internal
