#include "document/xml/blocks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

// Around a block's number. No XML file has these characters, and escape_xml writes none.
constexpr char number_begin = '\1', number_end = '\2';

// One that the file declares, which would be text in a segment.
bool has_entity(std::string_view xml) {
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);)
    if (token.kind == XmlToken::Kind::entity) return true;
  return false;
}

}  // namespace

std::string Blocks::add(DocumentBlock block) {
  CHECK(block.kept.size() == block.segments.size() + 1, "{} around {}", block.kept.size(),
        block.segments.size());
  if (block.segments.empty()) return std::move(block.raw);
  blocks_.push_back({std::move(block.raw), std::move(block.kept), {}, segments_.size()});
  for (DocumentSegment& segment : block.segments) {
    blocks_.back().originals.push_back(segment.original);
    segments_.push_back(std::move(segment));
  }
  return fmt::format("{}{}{}", number_begin, blocks_.size() - 1, number_end);
}

std::string Blocks::add_text(std::string_view xml, std::string (*escape)(std::string_view text)) {
  const std::string text = decode_xml(xml);
  if (!has_letters(text) || has_entity(xml)) return std::string(xml);
  const auto [begin, end] = trimmed(text);
  const std::string words = text.substr(begin, end - begin);
  return add({.raw = std::string(xml),
              .kept = {escape(text.substr(0, begin)), escape(text.substr(end))},
              .segments = {{.text = words, .original = escape(words), .escape = escape}}});
}

Document Blocks::finish(std::string file) && {
  const auto write = [blocks = std::move(blocks_),
                      file = std::move(file)](std::span<const std::string> rendered) {
    const auto written = [&](const Written& block) {
      const auto now = rendered.subspan(block.first, block.originals.size());
      if (std::ranges::equal(now, block.originals)) return block.raw;
      std::string bytes = block.kept[0];
      for (size_t i = 0; i < now.size(); ++i) bytes += now[i] + block.kept[i + 1];
      return bytes;
    };
    struct Open {
      std::string bytes;
      size_t at = 0;
    };
    std::string out;
    std::vector<Open> open = {{file}};
    while (!open.empty()) {
      Open& inner = open.back();
      const size_t begin = inner.bytes.find(number_begin, inner.at);
      out.append(inner.bytes, inner.at, begin - inner.at);
      if (begin == std::string::npos) {
        open.pop_back();
        continue;
      }
      inner.at = inner.bytes.find(number_end, begin) + 1;
      const size_t number = std::stoul(inner.bytes.substr(begin + 1, inner.at - begin - 2));
      open.push_back({written(blocks.at(number))});
    }
    return out;
  };
  return {.segments = std::move(segments_), .write = write};
}

}  // namespace dragoman::internal
