#include <utility>
#include <vector>

#include "document/readers.h"
#include "document/xml/inline_codes.h"

namespace dragoman::internal {
namespace {

using XmlKind = XmlToken::Kind;

// Around a piece of a file.
constexpr std::string_view piece_begin = "<piece>", piece_end = "</piece>";

bool is_untouched(const XmlToken& tag) {
  return xml_attribute(tag.bytes, "translate") == "no" || xml_attribute(tag.bytes, "translatable") == "false";
}

InlineCode plain_rule(const XmlToken& tag) {
  return {is_untouched(tag) ? InlineCode::Kind::fixed : InlineCode::Kind::tags};
}

bool is_text(const XmlToken& token) {
  const bool text = token.kind == XmlKind::text || token.kind == XmlKind::cdata;
  return text && trimmed(token.bytes).begin < token.bytes.size();
}

// For each token, whether it starts an element with text of its own.
std::vector<bool> paragraphs_among(std::span<const XmlToken> tokens) {
  std::vector<bool> is_paragraph(tokens.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == XmlKind::start)
      open.push_back(i);
    else if (tokens[i].kind == XmlKind::end)
      open.pop_back();
    else if (is_text(tokens[i]) && !open.empty())  // a byte order mark is outside
      is_paragraph[open.back()] = true;
  }
  return is_paragraph;
}

Document read(std::string_view xml) {
  std::vector<XmlToken> tokens;
  XmlTokens reader(xml);
  for (XmlToken token; reader.next(token);) tokens.push_back(token);
  const std::vector<bool> is_paragraph = paragraphs_among(tokens);
  std::string file;
  Blocks blocks;
  for (size_t i = 0; i < tokens.size();) {
    const bool is_start = tokens[i].kind == XmlKind::start, untouched = is_start && is_untouched(tokens[i]);
    if (!untouched && !is_paragraph[i]) {
      file += tokens[i++].bytes;
      continue;
    }
    const auto element = std::span(tokens).subspan(i, element_end(tokens, i) - i);
    if (untouched) {
      file += bytes_of(element);
    } else {
      file += element.front().bytes;
      file +=
          blocks.add(inline_block(element.subspan(1, element.size() - 2), plain_rule, {.collapsed = true}));
      file += element.back().bytes;
    }
    i += element.size();
  }
  return std::move(blocks).finish(std::move(file));
}

// Perhaps after comments, instructions and white space.
bool begins_with_doctype(std::string_view bytes) {
  XmlTokens tokens(bytes);
  for (XmlToken token; tokens.next(token);) {
    if (token.kind == XmlKind::doctype) return true;
    const bool is_blank = token.kind == XmlKind::text && !is_text(token);
    if (!is_blank && token.kind != XmlKind::comment && token.kind != XmlKind::instruction) return false;
  }
  return false;
}

}  // namespace

Document read_plain_xml(std::string_view bytes, const DocumentSettings& settings) {
  const bool is_file = bytes.starts_with("<?xml") || begins_with_doctype(bytes) ||
                       bytes.starts_with(byte_order_mark) || bytes.find('\0') != bytes.npos ||
                       bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  if (is_file) return read_xml(bytes, settings, read);
  std::string piece(piece_begin);
  piece += bytes;
  piece += piece_end;
  return with_change(read_xml(piece, settings, read), [](const std::string& written) {
    return written.substr(piece_begin.size(), written.size() - piece_begin.size() - piece_end.size());
  });
}

}  // namespace dragoman::internal
