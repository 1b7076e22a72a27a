// Markdown as cmark reads it: its nodes, and their text in capitals, without white space.
#pragma once

#include <cmark.h>

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "document/in_place.h"

namespace dragoman::internal {

struct MarkdownTree {
  std::string flat;
  std::string small_letters;  // of its text
};

inline MarkdownTree markdown_tree(const std::string& markdown) {
  const auto text_of = [](const char* text) { return std::string(text != nullptr ? text : ""); };
  cmark_node* const document = cmark_parse_document(markdown.data(), markdown.size(), CMARK_OPT_DEFAULT);
  cmark_iter* const nodes = cmark_iter_new(document);
  MarkdownTree tree;
  for (cmark_event_type event; (event = cmark_iter_next(nodes)) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(nodes);
    const cmark_node_type type = cmark_node_get_type(node);
    const std::string literal = text_of(cmark_node_get_literal(node));
    if (type == CMARK_NODE_SOFTBREAK) continue;
    if (type == CMARK_NODE_TEXT) {
      for (const char c : upper_case(literal))
        if (c != ' ' && c != '\t') tree.flat += c;
      for (const char c : literal)
        if (c >= 'a' && c <= 'z') tree.small_letters += c;
    } else {
      tree.flat += fmt::format("\n{} {} {} {} {} {} {} {}\n", event == CMARK_EVENT_EXIT ? "end of" : "",
                               cmark_node_get_type_string(node), literal, text_of(cmark_node_get_url(node)),
                               text_of(cmark_node_get_title(node)), text_of(cmark_node_get_fence_info(node)),
                               cmark_node_get_heading_level(node), cmark_node_get_list_start(node));
    }
  }
  cmark_iter_free(nodes);
  cmark_node_free(document);
  return tree;
}

}  // namespace dragoman::internal
