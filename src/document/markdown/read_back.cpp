#include "document/markdown/read_back.h"

#include <cmark.h>

#include <algorithm>
#include <memory>

#include "document/markdown/blocks.h"
#include "document/markdown/text.h"

namespace dragoman::internal {
namespace {

using WrittenKind = WrittenMarkdown::Kind;

bool is_shown_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// What is opaque is read as an image without text: between the same kinds of characters, and known to stay whole.
std::string paragraph_of(const std::vector<WrittenMarkdown>& pieces, bool in_cell) {
  std::string paragraph(in_cell ? before_cell : "");
  for (const auto& [kind, bytes, shown] : pieces) {
    if (kind == WrittenKind::end_of_link) {
      paragraph += "](x)";
    } else if (kind != WrittenKind::opaque) {
      paragraph += bytes;
    } else {
      paragraph += is_shown_white(bytes.front()) ? " " : "";
      paragraph += "![](x)";
      paragraph += is_shown_white(bytes.back()) || line_break_at(bytes) > 0 ? " " : "";
    }
  }
  return paragraph;
}

// Goes through the pieces in step with what the parser finds.
class ReadBack {
 public:
  explicit ReadBack(const std::vector<WrittenMarkdown>& pieces) : pieces_(pieces) {}

  size_t piece() const { return piece_; }

  bool text(std::string_view literal) {
    for (const char c : literal) {
      if (is_shown_white(c)) continue;
      skip_white();
      if (piece_ == pieces_.size() || pieces_[piece_].kind != WrittenKind::text ||
          pieces_[piece_].shown[at_] != c)
        return false;
      ++at_;
    }
    return true;
  }

  bool mark(WrittenKind kind) {
    skip_white();
    if (piece_ == pieces_.size() || pieces_[piece_].kind != kind) return false;
    ++piece_;
    return true;
  }

  bool is_at_end() {
    skip_white();
    return piece_ == pieces_.size();
  }

 private:
  // And texts of which nothing is left.
  void skip_white() {
    for (; piece_ < pieces_.size() && pieces_[piece_].kind == WrittenKind::text; ++piece_, at_ = 0) {
      const std::string_view shown = pieces_[piece_].shown;
      while (at_ < shown.size() && is_shown_white(shown[at_])) ++at_;
      if (at_ < shown.size()) return;
    }
  }

  const std::vector<WrittenMarkdown>& pieces_;
  size_t piece_ = 0, at_ = 0;
};

bool find_node(cmark_node* node, bool enters, ReadBack& read_back) {
  switch (cmark_node_get_type(node)) {
    case CMARK_NODE_TEXT:
      return read_back.text(cmark_node_get_literal(node));
    case CMARK_NODE_EMPH:
      return read_back.mark(enters ? WrittenKind::emphasis : WrittenKind::end_of_emphasis);
    case CMARK_NODE_STRONG:
      return read_back.mark(enters ? WrittenKind::strong : WrittenKind::end_of_strong);
    case CMARK_NODE_LINK:
      return read_back.mark(enters ? WrittenKind::link : WrittenKind::end_of_link);
    case CMARK_NODE_IMAGE:
      return !enters || read_back.mark(WrittenKind::opaque);
    default:
      return false;
  }
}

std::optional<size_t> difference_in(const std::vector<WrittenMarkdown>& pieces, bool in_cell) {
  const std::string text = paragraph_of(pieces, in_cell);
  const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> tree(
      cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT), cmark_node_free);
  cmark_node* const paragraph = cmark_node_first_child(tree.get());
  if (paragraph == nullptr || cmark_node_get_type(paragraph) != CMARK_NODE_PARAGRAPH ||
      cmark_node_next(paragraph) != nullptr)
    return 0;
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> nodes(cmark_iter_new(paragraph),
                                                                      cmark_iter_free);
  ReadBack read_back(pieces);
  std::string_view before = in_cell ? before_cell : "";
  for (cmark_event_type event; (event = cmark_iter_next(nodes.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(nodes.get());
    if (node == paragraph) continue;
    if (!before.empty()) {
      // The first text begins with it.
      std::string_view literal = cmark_node_get_literal(node);
      literal.remove_prefix(std::min(before.size(), literal.size()));
      before = {};
      if (!read_back.text(literal)) return read_back.piece();
    } else if (!find_node(node, event == CMARK_EVENT_ENTER, read_back)) {
      return read_back.piece();
    }
  }
  if (!read_back.is_at_end()) return read_back.piece();
  return std::nullopt;
}

}  // namespace

std::optional<size_t> find_difference(const std::vector<WrittenMarkdown>& pieces, bool in_cell) {
  if (const auto difference = difference_in(pieces, in_cell)) return difference;
  // What an emphasis at an end becomes depends on whether a space or an image, say, is beside it.
  const auto is_emphasis = [](const WrittenMarkdown& piece) {
    return piece.kind >= WrittenKind::emphasis && piece.kind <= WrittenKind::end_of_strong;
  };
  if (std::ranges::none_of(pieces, is_emphasis)) return std::nullopt;
  std::vector<WrittenMarkdown> between = pieces;
  between.insert(between.begin(), {.kind = WrittenKind::opaque, .bytes = "![]()"});
  between.push_back(between.front());
  const std::optional<size_t> difference = difference_in(between, in_cell);
  if (!difference) return std::nullopt;
  return std::max<size_t>(*difference, 1) - 1;
}

}  // namespace dragoman::internal
