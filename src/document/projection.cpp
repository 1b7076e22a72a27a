#include "document/projection.h"

#include <algorithm>
#include <vector>

#include "document/placement/places.h"

namespace dragoman::internal {
namespace {

using MarkKind = DocumentMark::Kind;
using PieceKind = RenderedPiece::Kind;

class Writer {
 public:
  Writer(const DocumentSegment& segment, std::string_view translation, const WordLinks& links)
      : segment_(segment), translation_(translation), words_(links.words()), nodes_(place(segment, links)) {}

  std::vector<RenderedPiece> write() {
    open_.push_back({.node = 0, .word = 0, .children = children_of(0)});
    while (!open_.empty()) step();
    flush();
    return std::move(pieces_);
  }

 private:
  // A span that is being written: the next word, and the marks inside it, in order of place.
  struct Open {
    size_t node, word;
    std::vector<size_t> children;
    size_t next = 0;
  };

  std::vector<size_t> children_of(size_t node) const {
    std::vector<size_t> children;
    for (size_t child = node + 1; child < nodes_[node].end; child = nodes_[child].end)
      children.push_back(child);
    // Marks before a word come before the span that begins with it.
    std::ranges::stable_sort(children, [this](size_t a, size_t b) {
      const WordRange left = nodes_[a].words, right = nodes_[b].words;
      return left.begin != right.begin ? left.begin < right.begin : left.empty() && !right.empty();
    });
    return children;
  }

  // Writes the marks before the next word of the innermost span, and that word, or opens the span that begins there.
  void step() {
    const size_t top = open_.size() - 1, node = open_[top].node, word = open_[top].word;
    const WordRange range = nodes_[node].words;
    if (word > range.begin || (node == 0 && word == 0)) {
      between(top);
    } else {
      write_here(top, [](const Placed&) { return true; });
    }
    if (word == range.end) return leave();
    std::vector<size_t>& children = open_[top].children;
    if (const size_t next = open_[top].next;
        next < children.size() && nodes_[children[next]].words.begin == word) {
      ++open_[top].next;
      return enter(children[next]);
    }
    text(words_[word], node);
    ++open_[top].word;
  }

  // The white space before a word, with the marks before and after it; a cut replaces it.
  void between(size_t top) {
    const size_t word = open_[top].word;
    const size_t begin = word > 0 ? words_[word - 1].end : 0;
    const size_t end = word < words_.size() ? words_[word].begin : translation_.size();
    bool cut = false;
    for (size_t i = open_[top].next; i < open_[top].children.size(); ++i) {
      const Placed& child = nodes_[open_[top].children[i]];
      if (!child.words.empty() || child.words.begin != word) break;
      cut |= child.mark != nullptr && child.mark->kind == MarkKind::cut;
    }
    write_here(top, [&](const Placed& child) { return cut || !child.right; });
    const bool belongs_outside = word == nodes_[open_[top].node].words.end && open_[top].node != 0;
    if (!cut && !belongs_outside) text({begin, end}, open_[top].node);
    write_here(top, [](const Placed&) { return true; });
  }

  template <typename Which>
  void write_here(size_t top, const Which& which) {
    Open& open = open_[top];
    while (open.next < open.children.size()) {
      const size_t child = open.children[open.next];
      if (!nodes_[child].words.empty() || nodes_[child].words.begin != open.word || !which(nodes_[child]))
        return;
      ++open.next;
      write_empty(child);
    }
  }

  // A mark without words, and all that is inside it.
  void write_empty(size_t node) {
    flush();
    std::vector<size_t> spans;
    const auto close = [&] {
      mark(PieceKind::close, spans.back());
      spans.pop_back();
    };
    for (size_t i = node; i < nodes_[node].end; ++i) {
      while (!spans.empty() && nodes_[spans.back()].end <= i) close();
      if (nodes_[i].mark == nullptr) continue;
      const MarkKind kind = nodes_[i].mark->kind;
      if (kind == MarkKind::fixed) {
        write_apart(i);
      } else if (kind == MarkKind::span) {
        mark(PieceKind::open, i);
        spans.push_back(i);
      } else {
        mark(PieceKind::whole, i);
      }
    }
    while (!spans.empty()) close();
  }

  // Words that the translation lacks, with white space where the source has it.
  void write_apart(size_t node) {
    const size_t word = nodes_[node].words.begin, end = nodes_[node].mark->place.end;
    const bool last = word == words_.size(), right = nodes_[node].right;
    const bool space_after = end < segment_.text.size() && segment_.text[end] == ' ';
    const DocumentMark* const around = nodes_[nodes_[node].parent].mark;
    if (last && word > 0 && right) pieces_.push_back({.mark = around, .text = " "});
    mark(PieceKind::whole, node);
    if (!last && (right || (word == 0 && space_after))) pieces_.push_back({.mark = around, .text = " "});
  }

  void mark(PieceKind kind, size_t node) {
    if (nodes_[node].mark != nullptr) pieces_.push_back({.kind = kind, .mark = nodes_[node].mark});
  }

  void enter(size_t node) {
    flush();
    if (nodes_[node].mark != nullptr && nodes_[node].mark->kind == MarkKind::fixed) {
      mark(PieceKind::whole, node);
      open_.back().word = nodes_[node].words.end;
      return;
    }
    mark(PieceKind::open, node);
    open_.push_back({.node = node, .word = nodes_[node].words.begin, .children = children_of(node)});
  }

  void leave() {
    flush();
    const size_t node = open_.back().node;
    mark(PieceKind::close, node);
    open_.pop_back();
    if (!open_.empty()) open_.back().word = nodes_[node].words.end;
  }

  // Text is written one stretch at a time.
  void text(TextSpan bytes, size_t node) {
    if (bytes.begin == bytes.end) return;
    if (stretch_.begin == stretch_.end) stretch_.begin = bytes.begin;
    stretch_.end = bytes.end;
    stretch_node_ = node;
  }
  void flush() {
    if (stretch_.begin == stretch_.end) return;
    pieces_.push_back({.mark = nodes_[stretch_node_].mark, .text = stretch_.of(translation_)});
    stretch_ = {};
  }

  const DocumentSegment& segment_;
  std::string_view translation_;
  const std::vector<TextSpan>& words_;
  const std::vector<Placed> nodes_;
  std::vector<Open> open_;
  std::vector<RenderedPiece> pieces_;
  TextSpan stretch_;
  size_t stretch_node_ = 0;
};

std::string concatenated(const DocumentSegment& segment, std::span<const RenderedPiece> pieces) {
  std::string out;
  for (const auto& [kind, mark, text] : pieces) {
    if (kind != PieceKind::text) {
      out += kind == PieceKind::close ? mark->close : mark->open;
      continue;
    }
    out += mark != nullptr ? mark->text_open : segment.text_open;
    out += segment.escape != nullptr ? segment.escape(text) : std::string(text);
    out += mark != nullptr ? mark->text_close : segment.text_close;
  }
  return out;
}

// Fixed words that may touch others: "%dpx".
std::vector<std::string> directives_of(const DocumentSegment& segment) {
  std::vector<std::string> directives;
  for (const DocumentMark& mark : segment.marks)
    if (mark.kind == MarkKind::fixed && mark.touches) directives.emplace_back(mark.place.of(segment.text));
  return directives;
}

}  // namespace

std::string render(const DocumentSegment& segment, std::string_view translation,
                   std::span<const TextLink> links) {
  if (translation == segment.text) return segment.original;
  const std::vector<std::string> directives = directives_of(segment);
  std::vector<RenderedPiece> pieces =
      Writer(segment, translation, WordLinks(segment.text, translation, links, directives)).write();
  return segment.compose != nullptr ? segment.compose(segment, std::move(pieces))
                                    : concatenated(segment, pieces);
}

}  // namespace dragoman::internal
