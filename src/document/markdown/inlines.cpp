#include "document/markdown/inlines.h"

#include <algorithm>
#include <memory>

#include "document/markdown/text.h"

namespace dragoman::internal {
namespace {

std::string_view literal_of(cmark_node* node) {
  const char* literal = cmark_node_get_literal(node);
  return literal != nullptr ? literal : "";
}

std::string on_one_line(std::string_view label) {
  std::string line;
  for (const char c : label) line += c == '\n' || c == '\r' ? ' ' : c;
  return line;
}

}  // namespace

std::optional<std::vector<MarkdownInline>> MarkdownInlines::walk(cmark_node* block, size_t begin,
                                                                 size_t quotes, std::string_view skipped) {
  at_ = begin;
  quotes_ = quotes;
  skipped_ = skipped;
  found_.clear();
  links_.clear();
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> nodes(cmark_iter_new(block), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(nodes.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(nodes.get());
    if (node == block) continue;
    if (event == CMARK_EVENT_EXIT) {
      if (!leave(node)) return std::nullopt;
      continue;
    }
    const bool is_address = cmark_node_get_type(node) == CMARK_NODE_LINK && starts_with("<");
    if (!(is_address ? address() : enter(node))) return std::nullopt;
    if (is_address) cmark_iter_reset(nodes.get(), node, CMARK_EVENT_EXIT);
  }
  return std::move(found_);
}

bool MarkdownInlines::add(Kind kind, size_t end, std::string_view name) {
  if (kind == Kind::text && !found_.empty() && found_.back().kind == Kind::text &&
      found_.back().bytes.end == at_)
    found_.back().bytes.end = end;
  else
    found_.push_back({.kind = kind, .bytes = {at_, end}, .name = name});
  at_ = end;
  return true;
}

bool MarkdownInlines::enter(cmark_node* node) {
  switch (cmark_node_get_type(node)) {
    case CMARK_NODE_TEXT:
      return text(literal_of(node));
    case CMARK_NODE_SOFTBREAK:
      return line_end(Kind::line_end);
    case CMARK_NODE_LINEBREAK:
      return line_end(Kind::hard_break);
    case CMARK_NODE_CODE:
      return code(literal_of(node));
    case CMARK_NODE_HTML_INLINE:
      return html(literal_of(node));
    case CMARK_NODE_EMPH:
      return starts_with("*") ? open(Kind::open, "*", "*") : open(Kind::open, "_", "_");
    case CMARK_NODE_STRONG:
      return starts_with("**") ? open(Kind::open, "**", "**") : open(Kind::open, "__", "__");
    case CMARK_NODE_LINK:
      return open(Kind::open, "[", "[");
    case CMARK_NODE_IMAGE:
      return open(Kind::open_image, "![", "![");
    default:
      return false;
  }
}

bool MarkdownInlines::leave(cmark_node* node) {
  switch (cmark_node_get_type(node)) {
    case CMARK_NODE_EMPH:
      return starts_with("*") ? close(Kind::close, "*", "*") : close(Kind::close, "_", "_");
    case CMARK_NODE_STRONG:
      return starts_with("**") ? close(Kind::close, "**", "**") : close(Kind::close, "__", "__");
    case CMARK_NODE_LINK:
      return close(Kind::close, "]", "[");
    case CMARK_NODE_IMAGE:
      return close(Kind::close_image, "]", "![");
    default:
      return true;
  }
}

bool MarkdownInlines::open(Kind kind, std::string_view begin, std::string_view name) {
  if (!starts_with(begin)) return false;
  add(kind, at_ + begin.size(), name);
  if (begin.ends_with('[')) links_.push_back(at_);
  return true;
}

bool MarkdownInlines::close(Kind kind, std::string_view end, std::string_view name) {
  if (!starts_with(end)) return false;
  if (end != "]") return add(kind, at_ + end.size(), name);
  const std::string_view label = source_.substr(links_.back(), at_ - links_.back());
  links_.pop_back();
  add(kind, after_link_tail(source_, at_ + 1, quotes_), name);
  const TextSpan tail = found_.back().bytes;
  if (tail.end - tail.begin == 1 || tail.of(source_) == "][]")
    found_.back().rewritten = "][" + on_one_line(label) + "]";
  return true;
}

bool MarkdownInlines::text(std::string_view decoded) {
  const size_t skipped = std::min(skipped_.size(), decoded.size());
  if (!decoded.starts_with(skipped_.substr(0, skipped))) return false;
  skipped_.remove_prefix(skipped);
  decoded.remove_prefix(skipped);
  while (!decoded.empty()) {
    const std::string_view rest = source_.substr(at_);
    const bool is_escape = rest.size() > 1 && rest[0] == '\\' && is_markdown_punctuation(rest[1]);
    if (is_escape || rest.starts_with('&')) {
      const auto reference = is_escape ? std::nullopt : references_.at_beginning_of(rest);
      const std::string shown = is_escape   ? std::string(rest.substr(1, 1))
                                : reference ? reference->decoded
                                            : "&";
      if (!decoded.starts_with(shown)) return false;
      add(is_escape || reference ? Kind::reference : Kind::text, at_ + (is_escape   ? 2
                                                                        : reference ? reference->size
                                                                                    : 1));
      if (found_.back().kind == Kind::reference) found_.back().decoded = shown;
      decoded.remove_prefix(shown.size());
      continue;
    }
    const size_t stop = std::min(decoded.find_first_of("\\&", 1), decoded.size());
    size_t same = 0;
    while (same < std::min(stop, rest.size()) && rest[same] == decoded[same] &&
           (same == 0 || (rest[same] != '\\' && rest[same] != '&')))
      ++same;
    if (same == 0) return false;
    add(Kind::text, at_ + same);
    decoded.remove_prefix(same);
  }
  return true;
}

bool MarkdownInlines::line_end(Kind kind) {
  size_t end = at_;
  if (kind == Kind::hard_break && starts_with("\\")) ++end;
  end = std::min(source_.find_first_not_of(" \t", end), source_.size());
  const size_t line = after_line_end(source_, end);
  if (line == end) return false;
  return add(kind, after_prefix(source_, line, quotes_));
}

bool MarkdownInlines::code(std::string_view shown) {
  const size_t count = std::min(source_.find_first_not_of('`', at_), source_.size()) - at_;
  if (count == 0) return false;
  for (size_t begin = at_ + count;;) {
    begin = source_.find('`', begin);
    if (begin == source_.npos) return false;
    const size_t end = std::min(source_.find_first_not_of('`', begin), source_.size());
    if (end - begin == count) {
      add(Kind::code, end);
      found_.back().decoded = shown;
      return true;
    }
    begin = end;
  }
}

bool MarkdownInlines::html(std::string_view literal) {
  size_t at = at_;
  while (!literal.empty()) {
    if (at < source_.size() && (source_[at] == '\n' || source_[at] == '\r')) {
      at = after_prefix(source_, after_line_end(source_, at), quotes_);
      literal.remove_prefix(std::min(literal.find_first_not_of(" \t\r\n"), literal.size()));
      continue;
    }
    if (at == source_.size() || source_[at] != literal[0]) return false;
    ++at;
    literal.remove_prefix(1);
  }
  return add(Kind::html, at);
}

bool MarkdownInlines::address() {
  const size_t end = source_.find('>', at_);
  return end != source_.npos && add(Kind::address, end + 1);
}

}  // namespace dragoman::internal
