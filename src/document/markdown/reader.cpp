#include <algorithm>
#include <cctype>
#include <string>

#include "base/ascii.h"
#include "base/error.h"
#include "document/markdown/blocks.h"
#include "document/markdown/composer.h"
#include "document/markdown/inlines.h"
#include "document/markdown/segments.h"
#include "document/markdown/text.h"
#include "document/readers.h"
#include "document/segments/builder.h"

namespace dragoman::internal {
namespace {

// cmark needs a hundred times as much memory, and time that grows with the square of a paragraph's brackets.
constexpr size_t max_markdown_bytes = size_t{32} << 20, max_brackets = 10'000;

void check_bounds(std::string_view bytes, const DocumentSettings& settings) {
  if (bytes.size() > max_markdown_bytes)
    throw Error("{}: {} MiB of Markdown, the limit is {}: split the file", settings.name, bytes.size() >> 20,
                max_markdown_bytes >> 20);
  size_t brackets = 0, line = 1;
  bool blank = true;
  for (const char c : bytes) {
    brackets += c == '[' ? 1 : 0;
    if (c == '\n') {
      if (blank) brackets = 0;
      ++line;
      blank = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      blank = false;
    }
    if (brackets > max_brackets)
      throw Error("{}: line {}: more than {} brackets without an empty line: split the paragraph",
                  settings.name, line, max_brackets);
  }
}

// What cmark reads, with all characters in their places. To CommonMark a footnote of one word defines a link: its colon
// is another character here. And to older versions declarations have capitals only: <!DOCTYPE html>.
std::string for_parser(std::string_view source) {
  std::string text(source);
  for (size_t at = 0; (at = source.find("<!", at)) != source.npos;)
    for (at += 2; at < source.size() && is_letter(source[at]); ++at)
      text[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(source[at])));
  for (size_t line = 0; line < source.size();) {
    const size_t begin = after_prefix(source, line, source.size());
    if (const size_t size = footnote_at(source.substr(begin)); size > 0) text[begin + size - 1] = ';';
    line = after_line_end(source, std::min(source.find_first_of("\n\r", begin), source.size()));
  }
  return text;
}

// Whether only the end of a heading or cell is left of the block.
bool is_end(std::string_view source, size_t at, const MarkdownBlock& block) {
  at = std::min(source.find_first_not_of(" \t", at), source.size());
  if (at == source.size() || source[at] == '\n' || source[at] == '\r') return true;
  if (block.in_cell) return source[at] == '|';
  return source[at] == '#' && cmark_node_get_type(block.node) == CMARK_NODE_HEADING;
}

using MarkdownEscape = std::string (*)(std::string_view);
MarkdownEscape escape_of(const MarkdownBlock& block, bool after_definitions) {
  if (block.in_cell) return block.begins_line ? escape_markdown_first_cell : escape_markdown_cell;
  if (block.has_hyphens_under) return escape_markdown_over_hyphens;
  return after_definitions ? escape_markdown_after_definitions : escape_markdown;
}

}  // namespace

Document read_markdown(std::string_view bytes, const DocumentSettings& settings) {
  check_utf8(bytes, settings);
  check_bounds(bytes, settings);
  size_t kept = bytes.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  kept += front_matter(bytes.substr(kept));
  SegmentBuilder builder(
      {.escape = escape_markdown, .compose = compose_markdown, .rules = {.tags_around = true}});
  builder.border(bytes.substr(0, kept));
  const std::string_view source = bytes.substr(kept);

  const std::string parsed = for_parser(source);
  const MarkdownBlocks blocks(parsed);
  HtmlReferences references;
  MarkdownInlines inlines(parsed, references);
  MarkdownSegments segments(source, builder);
  size_t at = 0;
  for (const MarkdownBlock& block : blocks.all()) {
    std::optional<std::vector<MarkdownInline>> found;
    for (size_t i = 0; i < block.begins.size() && !found && block.node != nullptr; ++i) {
      found = inlines.walk(block.node, block.begins[i], block.quotes, block.before);
      if (found && (found->empty() || !is_end(source, found->back().bytes.end, block))) found.reset();
    }
    if (!found || found->front().bytes.begin < at) continue;
    builder.border(source.substr(at, found->front().bytes.begin - at));
    builder.set_escape(escape_of(block, found->front().bytes.begin > block.begins.front()));
    segments.add(*found, block.in_item);
    at = found->back().bytes.end;
  }
  builder.border(source.substr(at));
  return std::move(builder).finish();
}

}  // namespace dragoman::internal
