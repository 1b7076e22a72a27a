#include "document/markdown/blocks.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "document/markdown/text.h"

namespace dragoman::internal {
namespace {

TextSpan without_blanks(std::string_view source, TextSpan span) {
  while (span.begin < span.end && (source[span.begin] == ' ' || source[span.begin] == '\t')) ++span.begin;
  while (span.end > span.begin && (source[span.end - 1] == ' ' || source[span.end - 1] == '\t')) --span.end;
  return span;
}

// Behind the code that begins with these backticks, or behind them if it does not end in the row.
size_t after_code(std::string_view source, size_t at, size_t end) {
  const auto after_backticks = [&](size_t begin) {
    return std::min(source.find_first_not_of('`', begin), end);
  };
  const size_t begin = after_backticks(at);
  for (size_t next = begin; (next = source.find('`', next)) < end;) {
    const size_t run = next;
    next = after_backticks(next);
    if (next - run == begin - at) return next;
  }
  return begin;
}

// The cells of a table's row, which are separated by pipes; by those in code, too, or not.
std::vector<TextSpan> cells_of(std::string_view source, TextSpan row, bool divide_code = true) {
  row = without_blanks(source, row);
  std::vector<TextSpan> cells;
  size_t begin = row.begin < row.end && source[row.begin] == '|' ? row.begin + 1 : row.begin;
  for (size_t at = begin; at < row.end; ++at) {
    if (source[at] == '\\') {
      ++at;
    } else if (source[at] == '`' && !divide_code) {
      at = after_code(source, at, row.end) - 1;
    } else if (source[at] == '|') {
      cells.push_back(without_blanks(source, {begin, at}));
      begin = at + 1;
    }
  }
  if (begin < row.end) cells.push_back(without_blanks(source, {begin, row.end}));
  return cells;
}

// A pipe in code divides a cell, unless the row has as many cells as the table without that.
std::vector<TextSpan> cells_in_columns(std::string_view source, TextSpan row, size_t columns) {
  std::vector<TextSpan> cells = cells_of(source, row);
  if (cells.size() <= columns) return cells;
  std::vector<TextSpan> with_whole_code = cells_of(source, row, /*divide_code=*/false);
  return with_whole_code.size() == columns ? with_whole_code : cells;
}

// The number of columns; 0 if it is not the row between a table's header and its body.
size_t columns_of_delimiter(std::string_view source, TextSpan row) {
  if (row.of(source).find('|') == std::string_view::npos) return 0;
  const std::vector<TextSpan> cells = cells_of(source, row);
  for (const TextSpan cell : cells) {
    std::string_view dashes = cell.of(source);
    if (dashes.starts_with(':')) dashes.remove_prefix(1);
    if (dashes.ends_with(':')) dashes.remove_suffix(1);
    if (dashes.empty() || dashes.find_first_not_of('-') != dashes.npos) return 0;
  }
  return cells.size();
}

// The line of a table's header, and its columns.
struct MarkdownTable {
  size_t header, columns;
};
std::optional<MarkdownTable> find_table(std::string_view source, const std::vector<TextSpan>& lines) {
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t columns = columns_of_delimiter(source, lines[i]);
    const bool has_pipe = lines[i - 1].of(source).find('|') != std::string_view::npos;
    if (columns > 0 && has_pipe && cells_in_columns(source, lines[i - 1], columns).size() == columns)
      return MarkdownTable{i - 1, columns};
  }
  return std::nullopt;
}

// Of a block's text: where the block begins, and behind each of its link definitions.
std::vector<size_t> possible_begins(std::string_view source, size_t begin, size_t quotes) {
  std::vector<size_t> begins = {begin};
  for (;;) {
    const size_t next = after_definition(source, begins.back(), quotes);
    if (next == begins.back()) return begins;
    begins.push_back(next);
  }
}

// Lines of link definitions, at most one a line: [label]: destination.
std::string link_definitions(std::string_view source) {
  std::string definitions;
  for (size_t at = 0, end = 0; (at = source.find("]:", end)) != source.npos;) {
    const size_t begin = source.find_last_of("[\n\r", at);
    end = std::min(source.find_first_of("\n\r", at), source.size());
    if (begin == source.npos || source[begin] != '[') continue;
    definitions += source.substr(begin, end - begin);
    definitions += "\n\n";
  }
  return definitions;
}

cmark_node* parse(std::string_view text) {
  return cmark_parse_document(text.data(), text.size(), CMARK_OPT_SOURCEPOS);
}

}  // namespace

size_t front_matter(std::string_view source) {
  for (const std::string_view fence : {"---", "+++"}) {
    if (!source.starts_with(fence)) continue;
    size_t at = source.find_first_not_of(" \t", fence.size());
    if (at == source.npos || (source[at] != '\n' && source[at] != '\r')) continue;
    while ((at = source.find('\n', at)) != source.npos) {
      ++at;
      const bool closes =
          source.substr(at).starts_with(fence) || (fence == "---" && source.substr(at).starts_with("..."));
      const size_t end = std::min(source.find_first_not_of(" \t", std::min(at + fence.size(), source.size())),
                                  source.size());
      if (closes && (end == source.size() || source[end] == '\n' || source[end] == '\r'))
        return after_line_end(source, end);
    }
  }
  return 0;
}

MarkdownBlocks::MarkdownBlocks(std::string_view source)
    : source_(source), tree_(parse(source), cmark_node_free), cells_tree_(nullptr, cmark_node_free) {
  find_lines();
  find_blocks();
  if (!cells_.empty()) parse_cells();
}

void MarkdownBlocks::find_lines() {
  lines_.push_back(0);
  for (size_t at = 0; (at = source_.find_first_of("\n\r", at)) != source_.npos;) {
    at = after_line_end(source_, at);
    lines_.push_back(at);
  }
}

void MarkdownBlocks::find_blocks() {
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> nodes(cmark_iter_new(tree_.get()),
                                                                      cmark_iter_free);
  MarkdownBlock around;
  size_t items = 0;
  for (cmark_event_type event; (event = cmark_iter_next(nodes.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(nodes.get());
    const cmark_node_type type = cmark_node_get_type(node);
    const bool enters = event == CMARK_EVENT_ENTER;
    if (type == CMARK_NODE_BLOCK_QUOTE) around.quotes = enters ? around.quotes + 1 : around.quotes - 1;
    if (type == CMARK_NODE_ITEM) items = enters ? items + 1 : items - 1;
    around.in_item = items > 0;
    if (!enters || (type != CMARK_NODE_PARAGRAPH && type != CMARK_NODE_HEADING)) continue;
    add(around, node);
    cmark_iter_reset(nodes.get(), node, CMARK_EVENT_EXIT);
  }
}

void MarkdownBlocks::add(MarkdownBlock block, cmark_node* node) {
  const auto line = static_cast<size_t>(std::max(cmark_node_get_start_line(node), 1)) - 1;
  const auto column = static_cast<size_t>(std::max(cmark_node_get_start_column(node), 1)) - 1;
  const auto end_line = static_cast<size_t>(std::max(cmark_node_get_end_line(node), 1));
  if (line >= lines_.size()) return;
  const size_t begin = std::min(lines_[line] + column, source_.size());
  block.node = node;
  const bool is_heading = cmark_node_get_type(node) == CMARK_NODE_HEADING;
  const bool is_atx = is_heading && source_.substr(begin).starts_with('#');
  block.has_hyphens_under = is_heading && !is_atx && cmark_node_get_heading_level(node) == 2;
  if (is_atx) {
    const size_t text = std::min(source_.find_first_not_of('#', begin), source_.size());
    block.begins = {after_prefix(source_, text, 0)};
    return blocks_.push_back(std::move(block));
  }
  std::vector<TextSpan> lines;
  for (size_t i = line; i < std::min(end_line, lines_.size()); ++i) {
    const size_t from = i == line ? begin : after_prefix(source_, lines_[i], block.quotes);
    lines.push_back({from, std::min(source_.find_first_of("\n\r", from), source_.size())});
  }
  if (lines.empty()) return;
  block.begins = possible_begins(source_.substr(0, lines.back().end), begin, block.quotes);
  const bool is_paragraph = cmark_node_get_type(node) == CMARK_NODE_PARAGRAPH;
  if (!is_paragraph || !add_table(block, lines)) blocks_.push_back(std::move(block));
}

// cmark sees the table as a paragraph, so its cells are parsed again on their own.
bool MarkdownBlocks::add_table(const MarkdownBlock& block, const std::vector<TextSpan>& lines) {
  const std::optional<MarkdownTable> table = find_table(source_, lines);
  if (!table) return false;
  const auto add_cell = [&](TextSpan place, std::string_view text, bool in_cell, bool begins_line) {
    blocks_.push_back({.begins = {place.begin},
                       .quotes = block.quotes,
                       .in_item = block.in_item && !in_cell,
                       .in_cell = in_cell,
                       .begins_line = begins_line,
                       .before = before_cell});
    (cells_ += before_cell) += text;
  };
  const auto first = std::ranges::lower_bound(lines, block.begins.back(), {}, &TextSpan::begin);
  const auto text = static_cast<size_t>(first - lines.begin());
  for (size_t i = text; i < table->header; ++i) {
    if (i == text)
      add_cell(lines[i], lines[i].of(source_), false, true);
    else
      cells_ += lines[i].of(source_);
    cells_ += i + 1 < table->header ? "\n" : "\n\n";
  }
  for (size_t i = table->header; i < lines.size(); ++i) {
    if (i == table->header + 1) continue;
    for (const TextSpan cell : cells_in_columns(source_, lines[i], table->columns)) {
      if (cell.begin == cell.end) continue;
      add_cell(cell, cell.of(source_), true, cell.begin == lines[i].begin);
      cells_ += "\n\n";
    }
  }
  return true;
}

void MarkdownBlocks::parse_cells() {
  cells_ += link_definitions(source_);
  cells_tree_.reset(parse(cells_));
  cmark_node* node = cmark_node_first_child(cells_tree_.get());
  for (MarkdownBlock& block : blocks_) {
    if (block.before.empty()) continue;
    block.node = node;
    node = node != nullptr ? cmark_node_next(node) : nullptr;
  }
}

}  // namespace dragoman::internal
