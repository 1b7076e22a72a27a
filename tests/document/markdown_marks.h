// What CommonMark's parser finds in a file, to compare a source with its translation.
#pragma once

#include <cmark.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "document/identity.h"
#include "document/markdown/text.h"
#include "document/random_translation.h"

namespace dragoman::internal {

struct MarkdownMarks {
  std::map<std::string, int> all;   // each node but texts and emphases, and how often it is there
  int emphases = 0, strong = 0;     // in either form
  std::array<int, 128> shown = {};  // how often each character is in texts
};

inline MarkdownMarks markdown_marks(const std::string& markdown) {
  const auto text_of = [](const char* text) { return std::string(text != nullptr ? text : ""); };
  const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> document(
      cmark_parse_document(markdown.data(), markdown.size(), CMARK_OPT_DEFAULT), cmark_node_free);
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> nodes(cmark_iter_new(document.get()),
                                                                      cmark_iter_free);
  MarkdownMarks marks;
  for (cmark_event_type event; (event = cmark_iter_next(nodes.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(nodes.get());
    const cmark_node_type type = cmark_node_get_type(node);
    const std::string literal = text_of(cmark_node_get_literal(node));
    const bool breaks_line = type == CMARK_NODE_LINEBREAK || literal == "<br>";  // either form
    if (event == CMARK_EVENT_EXIT || type == CMARK_NODE_SOFTBREAK) continue;
    if (type == CMARK_NODE_TEXT) {
      for (const char c : literal)
        if (static_cast<unsigned char>(c) < 128) ++marks.shown[static_cast<size_t>(c)];
    } else if (type == CMARK_NODE_EMPH || literal == "<em>") {
      ++marks.emphases;
    } else if (type == CMARK_NODE_STRONG || literal == "<strong>") {
      ++marks.strong;
    } else if (breaks_line) {
      ++marks.all["line break"];
    } else if (literal != "</em>" && literal != "</strong>") {
      ++marks.all[fmt::format("{} {} {} {} {} {}", cmark_node_get_type_string(node), literal,
                              text_of(cmark_node_get_url(node)), text_of(cmark_node_get_title(node)),
                              text_of(cmark_node_get_fence_info(node)), cmark_node_get_heading_level(node))];
    }
  }
  return marks;
}

// The characters of a text outside what must not change, and how many emphases have nothing in them.
struct ProjectedText {
  std::array<int, 128> shown = {};
  int empty = 0;
};

inline ProjectedText projected(DocumentSegment segment, const RandomTranslation& translation) {
  ProjectedText result;
  segment.escape = nullptr;
  segment.compose = [](const DocumentSegment&, std::vector<RenderedPiece> pieces) {
    std::string out;
    for (const RenderedPiece& piece : pieces) {
      if (piece.kind == RenderedPiece::Kind::text)
        out += piece.text;
      else if (line_break_at(piece.mark->open) > 0)
        out += ' ';
      else
        out += piece.kind == RenderedPiece::Kind::open    ? '\1'
               : piece.kind == RenderedPiece::Kind::close ? '\2'
                                                          : '\3';
    }
    return out;
  };
  const std::string text = render(segment, translation.text, translation.links);
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 128 && c > 3) ++result.shown[static_cast<size_t>(c)];
  std::vector<size_t> open;
  for (const char c : text) {
    if (c == '\1') open.push_back(0);
    if (c == '\2') {
      result.empty += open.back() == 0 ? 1 : 0;
      open.pop_back();
    }
    if (c != '\1' && c != '\2' && c != ' ')
      for (size_t& content : open) ++content;
  }
  return result;
}

// What is wrong with a random translation of the file; empty if nothing is.
inline std::string fault_of_random_translation(const std::string& markdown, uint64_t seed,
                                               const std::vector<std::string>& words) {
  const Document document = read_as("markdown", markdown);
  const MarkdownMarks before = markdown_marks(markdown);
  std::array<int, 128> expected = before.shown;
  Random random(seed);
  int empty = 0;
  std::vector<std::string> rendered;
  std::string translations;
  for (const DocumentSegment& segment : document.segments) {
    const RandomTranslation translation = random_translation(segment, random, words);
    translations += translation.text + "\n";
    rendered.push_back(render(segment, translation.text, translation.links));
    if (translation.text == segment.text) continue;
    const ProjectedText after = projected(segment, translation);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += after.shown[i];
    empty += after.empty;
    size_t at = 0;
    const auto take = [&](size_t end) {
      for (; at < end; ++at)
        if (static_cast<unsigned char>(segment.text[at]) < 128)
          --expected[static_cast<size_t>(segment.text[at])];
    };
    for (const DocumentMark& mark : segment.marks) {
      if (mark.kind != DocumentMark::Kind::fixed) continue;
      take(mark.place.begin);
      at = mark.place.end;
    }
    take(segment.text.size());
  }
  const std::string result = document.write(rendered);
  const MarkdownMarks after = markdown_marks(result);
  std::string fault;
  for (const auto& [mark, count] : before.all)
    if (const auto found = after.all.find(mark); found == after.all.end() || found->second != count)
      fault += fmt::format("lost: {} ({})\n", mark, found == after.all.end() ? 0 : found->second - count);
  for (const auto& [mark, count] : after.all)
    if (!before.all.contains(mark)) fault += fmt::format("new: {}\n", mark);
  const int lost = before.emphases + before.strong - after.emphases - after.strong;
  if (lost < 0 || lost > empty) fault += fmt::format("{} emphases lost, {} empty\n", lost, empty);
  for (size_t i = '!'; i < 127; ++i)
    if (i != '~' && after.shown[i] != expected[i])
      fault +=
          fmt::format("shows {} {} times instead of {}\n", static_cast<char>(i), after.shown[i], expected[i]);
  if (!fault.empty())
    fault +=
        "--- source\n" + markdown + "\n--- translations\n" + translations + "\n--- result\n" + result + "\n";
  return fault;
}

}  // namespace dragoman::internal
