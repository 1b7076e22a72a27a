#include "document/markdown/text.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_label = 1000, max_title = 2000, max_parentheses = 32;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Where a block's marker at the beginning of a line needs a backslash; text.size() if nowhere.
size_t block_marker(std::string_view text) {
  if (text.empty()) return 0;
  if (is_blank(text[0])) return 1 + block_marker(text.substr(1));
  const auto ends_at = [&](size_t at) { return at == text.size() || is_blank(text[at]); };
  const size_t run = std::min(text.find_first_not_of(text[0]), text.size());
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (text[0] == '>' || (text[0] == '#' && ends_at(run)) || (text[0] == '~' && run >= 3)) return 0;
  if ((text[0] == '-' || text[0] == '+') && (ends_at(1) || run >= 2)) return 0;
  if (text[0] == '=' && ends_at(run)) return 0;
  if (digits > 0 && digits < text.size() && (text[digits] == '.' || text[digits] == ')') &&
      ends_at(digits + 1))
    return digits;
  return text.size();
}

// A web address is a link in most dialects, which backslashes would break.
size_t address_at(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://", "www."})
    if (text.starts_with(scheme)) return std::min(text.find_first_of(" \t<>\"`|\\[]"), text.size());
  return 0;
}

bool is_reference(std::string_view text) {
  const size_t end =
      text.find_first_not_of("#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
  return end != text.npos && end > 1 && text[end] == ';';
}

bool needs_backslash(std::string_view text, size_t at) {
  const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : ' ';
  const auto in_word = [&](size_t i) { return i < text.size() && is_alphanumeric(text[i]); };
  switch (c) {
    case '*':
    case '[':
    case ']':
      return true;
    case '_':
      return at == 0 || !in_word(at - 1) || !in_word(at + 1);
    case '<':
      return is_letter(next) || next == '/' || next == '!' || next == '?';
    case '\\':
      return at + 1 == text.size() || is_markdown_punctuation(next);
    case '~':
      return next == '~' || (at > 0 && text[at - 1] == '~');
    case '#':
      return at > 0 && is_blank(text[at - 1]) && text.find_first_not_of('#', at) == text.npos;
    case '&':
      return is_reference(text.substr(at));
    default:
      return false;
  }
}

std::string escaped_markdown(std::string_view text, bool begins_line, bool cell) {
  std::string result;
  const size_t marker = begins_line ? block_marker(text) : text.size();
  bool before_word = true;
  for (size_t at = 0; at < text.size();) {
    const size_t address = before_word ? address_at(text.substr(at)) : 0;
    result += text.substr(at, address);
    at += address;
    if (at == text.size()) break;
    before_word = is_blank(text[at]) || text[at] == '(';
    if (at == marker || needs_backslash(text, at) || (cell && text[at] == '|')) result += '\\';
    // In code a backslash does not escape, so a backtick before the segment would find its partner here.
    if (text[at] == '`')
      result += "&#96;";
    else
      result += text[at] == '\n' || text[at] == '\r' ? ' ' : text[at];
    ++at;
  }
  return result;
}

size_t after_blanks(std::string_view source, size_t at) {
  return std::min(source.find_first_not_of(" \t", at), source.size());
}

// Where a destination ends; `at` if there is none.
size_t after_destination(std::string_view source, size_t at) {
  const size_t begin = at;
  if (at < source.size() && source[at] == '<') {
    for (++at; at < source.size(); ++at) {
      if (source[at] == '>') return at + 1;
      if (source[at] == '<' || source[at] == '\n' || source[at] == '\r') return begin;
      at += source[at] == '\\' ? 1 : 0;
    }
    return begin;
  }
  size_t open = 0;
  for (; at < source.size(); ++at) {
    const char c = source[at];
    if (c == '\\' && at + 1 < source.size() && is_markdown_punctuation(source[at + 1]))
      ++at;
    else if (c == '(' && ++open > max_parentheses)
      return begin;
    else if (c == ')' && open-- == 0)
      break;
    else if (static_cast<unsigned char>(c) <= ' ')
      break;
  }
  return at;
}

size_t after_title(std::string_view source, size_t at) {
  if (at == source.size() || (source[at] != '"' && source[at] != '\'' && source[at] != '(')) return at;
  const char close = source[at] == '(' ? ')' : source[at];
  for (size_t i = at + 1; i < std::min(source.size(), at + max_title); ++i) {
    if (source[i] == close) return i + 1;
    if (source[i] == '(' && close == ')') return at;
    if (source[i] == '\\' && i + 1 < source.size() && is_markdown_punctuation(source[i + 1])) ++i;
  }
  return at;
}

// Where (destination "title") ends; `at` if there is none.
size_t after_inline_tail(std::string_view source, size_t at, size_t quotes) {
  size_t next = after_destination(source, after_space(source, at + 1, quotes));
  const size_t title = after_space(source, next, quotes);
  if (title > next) next = after_space(source, after_title(source, title), quotes);
  return next < source.size() && source[next] == ')' ? next + 1 : at;
}

// Where [label] ends; `at` if there is none.
size_t after_label(std::string_view source, size_t at) {
  for (size_t i = at + 1; i < std::min(source.size(), at + max_label + 2); ++i) {
    if (source[i] == ']') return i + 1;
    if (source[i] == '[') return at;
    if (source[i] == '\\' && i + 1 < source.size() && is_markdown_punctuation(source[i + 1])) ++i;
  }
  return at;
}

}  // namespace

bool is_markdown_punctuation(char c) { return c > ' ' && c < 127 && !is_alphanumeric(c); }

std::string escape_markdown(std::string_view text) { return escaped_markdown(text, true, false); }

std::string escape_markdown_cell(std::string_view text) { return escaped_markdown(text, false, true); }

std::string escape_markdown_first_cell(std::string_view text) { return escaped_markdown(text, true, true); }

std::string escape_markdown_over_hyphens(std::string_view text) {
  return escaped(escape_markdown(text), {{'|', "&#124;"}});
}

std::string escape_markdown_after_definitions(std::string_view text) {
  const bool is_title = text.starts_with('"') || text.starts_with('\'') || text.starts_with('(');
  return (is_title ? "\\" : "") + escaped_markdown(text, true, false);
}

std::string escape_all_markdown(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '`') {
      result += "&#96;";
      continue;
    }
    if (is_markdown_punctuation(c)) result += '\\';
    result += c == '\n' || c == '\r' ? ' ' : c;
  }
  return result;
}

size_t footnote_at(std::string_view text) {
  if (!text.starts_with("[^")) return 0;
  const size_t end = text.find_first_of("[] \t\n\r", 2);
  return end != text.npos && end > 2 && text.substr(end).starts_with("]:") ? end + 2 : 0;
}

size_t after_line_end(std::string_view source, size_t at) {
  if (at < source.size() && source[at] == '\r') ++at;
  if (at < source.size() && source[at] == '\n') ++at;
  return at;
}

size_t after_prefix(std::string_view source, size_t at, size_t quotes) {
  at = after_blanks(source, at);
  for (; quotes > 0 && at < source.size() && source[at] == '>'; --quotes) at = after_blanks(source, at + 1);
  return at;
}

size_t after_space(std::string_view source, size_t at, size_t quotes) {
  at = after_blanks(source, at);
  const size_t line = after_line_end(source, at);
  return line > at ? after_prefix(source, line, quotes) : at;
}

size_t line_break_at(std::string_view bytes) {
  const size_t blank = after_blanks(bytes, 0);
  const size_t at = blank + (bytes.substr(blank).starts_with('\\') ? 1 : 0);
  const size_t line = after_line_end(bytes, at);
  return line > at ? after_prefix(bytes, line, bytes.size()) : 0;
}

size_t after_definition(std::string_view source, size_t at, size_t quotes) {
  const size_t label = source.substr(at).starts_with('[') ? after_label(source, at) : at;
  if (label == at || !source.substr(label).starts_with(':')) return at;
  const size_t destination = after_space(source, label + 1, quotes);
  const size_t end = after_destination(source, destination), title = after_space(source, end, quotes);
  if (end == destination) return at;
  // What only looks like a title may be the text on the next line.
  for (const size_t last : {title > end ? after_title(source, title) : end, end}) {
    const size_t blanks = after_blanks(source, last), line = after_line_end(source, blanks);
    if (line > blanks || blanks == source.size()) return after_prefix(source, line, quotes);
  }
  return at;
}

size_t after_link_tail(std::string_view source, size_t at, size_t quotes) {
  if (at == source.size()) return at;
  if (source[at] == '(')
    if (const size_t end = after_inline_tail(source, at, quotes); end > at) return end;
  return source[at] == '[' ? after_label(source, at) : at;
}

}  // namespace dragoman::internal
