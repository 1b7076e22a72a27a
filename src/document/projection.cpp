#include "document/projection.h"

#include <algorithm>
#include <vector>

#include "document/placement/places.h"

namespace dragoman::internal {
namespace {

using MarkKind = DocumentMark::Kind;

class Writer {
 public:
  Writer(const DocumentSegment& segment, std::string_view translation, const WordLinks& links)
      : segment_(segment), translation_(translation), words_(links.words()), nodes_(place(segment, links)) {}

  std::string write() {
    open_.push_back({.node = 0, .word = 0, .children = children_of(0)});
    while (!open_.empty()) step();
    flush();
    return std::move(out_);
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
    for (size_t i = node; i < nodes_[node].end; ++i) {
      for (; !spans.empty() && nodes_[spans.back()].end <= i; spans.pop_back())
        out_ += nodes_[spans.back()].mark->close;
      if (nodes_[i].mark == nullptr) continue;
      out_ += nodes_[i].mark->kind == MarkKind::fixed ? apart(nodes_[i]) : nodes_[i].mark->open;
      spans.push_back(i);
    }
    for (; !spans.empty(); spans.pop_back()) out_ += nodes_[spans.back()].mark->close;
  }

  // Words that the translation lacks, with white space where the source has it.
  std::string apart(const Placed& node) const {
    const size_t word = node.words.begin, end = node.mark->place.end;
    const bool last = word == words_.size();
    const bool space_after = end < segment_.text.size() && segment_.text[end] == ' ';
    const std::string before = last && word > 0 && node.right ? " " : "";
    const std::string after = !last && (node.right || (word == 0 && space_after)) ? " " : "";
    return before + node.mark->open + after;
  }

  void enter(size_t node) {
    flush();
    if (nodes_[node].mark != nullptr && nodes_[node].mark->kind == MarkKind::fixed) {
      out_ += nodes_[node].mark->open;
      open_.back().word = nodes_[node].words.end;
      return;
    }
    if (nodes_[node].mark != nullptr) out_ += nodes_[node].mark->open;
    open_.push_back({.node = node, .word = nodes_[node].words.begin, .children = children_of(node)});
  }

  void leave() {
    flush();
    const size_t node = open_.back().node;
    if (nodes_[node].mark != nullptr) out_ += nodes_[node].mark->close;
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
    const std::string_view bytes = stretch_.of(translation_);
    const DocumentMark* mark = nodes_[stretch_node_].mark;
    out_ += mark != nullptr ? mark->text_open : segment_.text_open;
    out_ += segment_.escape != nullptr ? segment_.escape(bytes) : std::string(bytes);
    out_ += mark != nullptr ? mark->text_close : segment_.text_close;
    stretch_ = {};
  }

  const DocumentSegment& segment_;
  std::string_view translation_;
  const std::vector<TextSpan>& words_;
  const std::vector<Placed> nodes_;
  std::vector<Open> open_;
  std::string out_;
  TextSpan stretch_;
  size_t stretch_node_ = 0;
};

// Fixed words that may touch others: "%dpx".
std::vector<std::string> directives_of(const DocumentSegment& segment) {
  std::vector<std::string> directives;
  for (const DocumentMark& mark : segment.marks)
    if (mark.kind == MarkKind::fixed && mark.touches) directives.emplace_back(mark.place.of(segment.text));
  return directives;
}

}  // namespace

std::string render(const DocumentSegment& segment, std::string_view translation,
                   std::span<const Link> links) {
  if (translation == segment.text) return segment.original;
  const std::vector<std::string> directives = directives_of(segment);
  return Writer(segment, translation, WordLinks(segment.text, translation, links, directives)).write();
}

}  // namespace dragoman::internal
