// The blocks of Markdown that have text: paragraphs, headings and the cells of tables, which cmark does not support.
#pragma once

#include <cmark.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

// Makes the cell of a table a paragraph whatever it begins with.
inline constexpr std::string_view before_cell = "x ";

struct MarkdownBlock {
  cmark_node* node = nullptr;
  std::vector<size_t> begins = {};  // where its text may begin: also behind each link definition before it
  size_t quotes = 0;                // the block quotes that it is in
  bool in_item = false, in_cell = false;
  bool has_hyphens_under = false;  // a heading
  bool begins_line = true;         // or a | is before it
  std::string_view before = {};    // the node's text before the block's
};

class MarkdownBlocks {
 public:
  explicit MarkdownBlocks(std::string_view source);

  const std::vector<MarkdownBlock>& all() const { return blocks_; }  // in their order

 private:
  using Tree = std::unique_ptr<cmark_node, decltype(&cmark_node_free)>;

  void find_lines();
  void find_blocks();
  void add(MarkdownBlock block, cmark_node* node);
  bool add_table(const MarkdownBlock& block, const std::vector<TextSpan>& lines);
  void parse_cells();

  std::string_view source_;
  std::vector<size_t> lines_;  // where they begin
  Tree tree_, cells_tree_;
  std::vector<MarkdownBlock> blocks_;
  std::string cells_;  // as a document with one paragraph per cell
};

// How many bytes the front matter has, YAML or TOML.
size_t front_matter(std::string_view source);

}  // namespace dragoman::internal
