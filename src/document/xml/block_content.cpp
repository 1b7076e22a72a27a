#include "document/xml/block_content.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"

namespace dragoman::internal {

using Role = XmlRole;

namespace {

// The first line feed of a spreadsheet's text, or character that is written as its number; empty: there is none.
TextSpan border_in_cell(std::string_view text, size_t from) {
  for (size_t at = from; (at = text.find_first_of("\n_", at)) < text.size(); ++at) {
    const size_t size = text[at] == '\n' ? 1 : numbered_character_at(text.substr(at));
    if (size > 0) return {at, at + size};
  }
  return {text.size(), text.size()};
}

}  // namespace

size_t numbered_character_at(std::string_view text) {
  constexpr size_t size = std::string_view("_x000D_").size();
  if (text.size() < size || !text.starts_with("_x") || text[size - 1] != '_') return 0;
  const std::string_view digits = text.substr(2, size - 3);
  return std::ranges::all_of(digits, [](char c) { return hex_digit(c) >= 0; }) ? size : 0;
}

void FormatBudget::spend(size_t copied) {
  if (copied > bytes)
    throw Error("{}: the formats of its text are many times as large as the file: simplify them", file);
  bytes -= copied;
}

BlockContent::BlockContent(const XmlRules& rules, bool has_runs, FormatBudget& budget)
    : rules_(&rules),
      has_runs_(has_runs),
      budget_(&budget),
      paragraph_({.escape = escape_xml, .collapsed = rules.collapsed}) {}

void BlockContent::close_run() {
  if (run_.is_bare()) add(Role::other, "");
  run_ = {};
}

void BlockContent::open_tags(const XmlToken& tag, std::string bytes) {
  end_field_code();
  ++tags_;
  paragraph_.open(std::move(bytes), std::string(tag.name));
}

void BlockContent::close_tags(const XmlToken& tag) {
  end_field_code();
  --tags_;
  paragraph_.close(std::string(tag.bytes), std::string(tag.name));
}

void BlockContent::text(const std::string& text) {
  if (!in_text() && (has_runs_ || in_run())) return;  // white space between tags
  budget_->spend(run_.size());
  const RunFormat around = in_text() ? run_.format() : RunFormat();
  if (field_codes_ > 0) {
    field_code_ += around.open + escape_xml(text) + around.close;
    return;
  }
  const std::string& description = run_.description();
  const std::string key = rules_->format_key != nullptr ? rules_->format_key(description) : description;
  const size_t format = in_text() ? paragraph_.format(key, around) : 0;
  if (!rules_->lines) return paragraph_.text(text, format);
  for (size_t begin = 0; begin < text.size();) {
    const TextSpan stop = border_in_cell(text, begin);
    paragraph_.text(text.substr(begin, stop.begin - begin), format);
    if (stop.begin < stop.end) {
      budget_->spend(around.open.size() + around.close.size());
      paragraph_.border(around.open + std::string(stop.of(text)) + around.close);
    }
    begin = stop.end;
  }
}

void BlockContent::add(Role role, const std::string& bytes) {
  if (role == Role::hint) return;
  if (role == Role::run_format && in_run()) return run_.describe(bytes);
  budget_->spend(run_.size());
  if (in_text()) return paragraph_.point(run_.format().open + bytes + run_.format().close);
  const std::string item = in_run() ? run_.with(bytes) : bytes;
  if (add_to_field(role, item)) return;
  if (role == Role::border)
    paragraph_.border(item);
  else if (role == Role::field)
    add_field(item);
  else if (role == Role::space || role == Role::hyphen)
    paragraph_.symbol(item, role == Role::space ? " " : "-");
  else
    paragraph_.point(item);
}

// Its text is in the first element that has any.
void BlockContent::add_field(const std::string& element) {
  XmlTokens tokens(element);
  size_t end = 0;
  for (XmlToken token; tokens.next(token); end += token.bytes.size()) {
    if (token.kind != XmlToken::Kind::text) continue;
    paragraph_.open(element.substr(0, end), "field");
    paragraph_.text(decode_xml(token.bytes));
    return paragraph_.close(element.substr(end + token.bytes.size()), "field");
  }
  paragraph_.point(element);
}

// A field is its description and then its text: a pair of tags. One without text is a point.
bool BlockContent::add_to_field(Role role, const std::string& item) {
  if (role == Role::field_code) {
    ++field_codes_;
  } else if (field_codes_ == 0) {
    if (role == Role::field_end) paragraph_.close(item, "field");
    return role == Role::field_end;
  }
  field_code_ += item;
  const bool has_text = role == Role::field_text && field_codes_ == 1;
  if (role == Role::field_end) --field_codes_;
  if (has_text) {
    field_codes_ = 0;
    paragraph_.open(std::exchange(field_code_, {}), "field");
  } else if (field_codes_ == 0) {
    paragraph_.point(std::exchange(field_code_, {}));
  }
  return true;
}

// A field's description that continues where marks cannot be.
void BlockContent::end_field_code() {
  if (field_codes_ > 0) paragraph_.border(std::exchange(field_code_, {}));
  field_codes_ = 0;
}

DocumentBlock BlockContent::finish(std::string raw) && {
  end_field_code();
  return std::move(paragraph_).block(std::move(raw));
}

}  // namespace dragoman::internal
