#include "document/xml/inline_codes.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

using CodeKind = InlineCode::Kind;
using XmlKind = XmlToken::Kind;

// A code, or text between codes: tokens [begin, end). The end tag of a pair of tags is a code of its own.
struct CodePiece {
  size_t begin, end;
  InlineCode code = {};
  bool is_end_tag = false;
  bool paired = false;  // of elements
};

class Pieces {
 public:
  Pieces(std::span<const XmlToken> tokens, InlineCode (*rule)(const XmlToken& tag)) : tokens_(tokens) {
    for (size_t i = 0; i < tokens.size(); i = pieces_.back().end) {
      const XmlKind kind = tokens[i].kind;
      if (kind == XmlKind::start || kind == XmlKind::empty)
        start(i, rule(tokens[i]));
      else if (kind == XmlKind::end)
        end(i);
      else
        pieces_.push_back({i, i + 1});
    }
  }

  void add_to(Paragraph& paragraph) const {
    for (const CodePiece& piece : pieces_) add(piece, paragraph);
  }

 private:
  void start(size_t token, InlineCode code) {
    const bool is_pair = code.kind == CodeKind::tags || code.kind == CodeKind::border;
    const bool has_end = is_pair && tokens_[token].kind == XmlKind::start;
    if (is_pair && !has_end) code.kind = code.kind == CodeKind::tags ? CodeKind::point : CodeKind::border;
    if (code.kind == CodeKind::close) find_partner(code.pair);
    const bool paired = code.kind == CodeKind::close && !open_.empty() &&
                        pieces_[open_.back()].code.pair == code.pair &&
                        pieces_[open_.back()].code.kind == CodeKind::open;
    if (paired) {
      pieces_[open_.back()].paired = true;
      open_.pop_back();
    }
    if (has_end || code.kind == CodeKind::open) open_.push_back(pieces_.size());
    const size_t end = has_end ? token + 1 : element_end(tokens_, token);
    pieces_.push_back({token, end, std::move(code), false, paired});
  }

  // Codes opened after the partner, in the same element, cross it and have no partner. Of many open codes only the
  // innermost are searched: otherwise closing codes without a partner would take time with each.
  void find_partner(const std::string& pair) {
    constexpr size_t most = 64;
    const size_t outermost = open_.size() - std::min(open_.size(), most);
    for (size_t i = open_.size(); i > outermost; --i) {
      const InlineCode& code = pieces_[open_[i - 1]].code;
      if (code.kind != CodeKind::open) return;
      if (code.pair == pair) return open_.resize(i);
    }
  }

  void end(size_t token) {
    while (!open_.empty() && pieces_[open_.back()].code.kind == CodeKind::open) open_.pop_back();
    InlineCode code;
    if (!open_.empty()) {
      code = pieces_[open_.back()].code;
      open_.pop_back();
    }
    pieces_.push_back({token, token + 1, code, true});
  }

  void add(const CodePiece& piece, Paragraph& paragraph) const {
    const XmlToken& first = tokens_[piece.begin];
    std::string bytes(bytes_of(tokens_.subspan(piece.begin, piece.end - piece.begin)));
    constexpr std::string_view cdata = "<![CDATA[", cdata_end = "]]>";
    if (first.kind == XmlKind::text)
      paragraph.text(decode_xml(bytes));
    else if (first.kind == XmlKind::cdata)
      paragraph.text(bytes.substr(cdata.size(), bytes.size() - cdata.size() - cdata_end.size()));
    else if (piece.code.kind == CodeKind::fixed)
      paragraph.fixed(std::move(bytes), words_of(piece));
    else if (piece.code.kind == CodeKind::border)
      paragraph.border(std::move(bytes));
    else if (piece.is_end_tag)
      paragraph.close(std::move(bytes), std::string(first.name));
    else if (piece.code.kind == CodeKind::tags)
      paragraph.open(std::move(bytes), std::string(first.name));
    else if (piece.paired && piece.code.kind == CodeKind::open)
      paragraph.open(std::move(bytes), "code " + piece.code.pair);
    else if (piece.paired)
      paragraph.close(std::move(bytes), "code " + piece.code.pair);
    else
      paragraph.point(std::move(bytes));
  }

  std::string words_of(const CodePiece& piece) const {
    std::string words;
    for (size_t i = piece.begin; i < piece.end; ++i)
      if (tokens_[i].kind == XmlKind::text) words += decode_xml(tokens_[i].bytes);
    return words;
  }

  std::span<const XmlToken> tokens_;
  std::vector<CodePiece> pieces_;
  std::vector<size_t> open_;  // pieces that wait for their partners
};

}  // namespace

std::string_view bytes_of(std::span<const XmlToken> tokens) {
  if (tokens.empty()) return {};
  const char* const begin = tokens.front().bytes.data();
  return {begin, static_cast<size_t>(tokens.back().bytes.data() + tokens.back().bytes.size() - begin)};
}

size_t element_end(std::span<const XmlToken> tokens, size_t start) {
  size_t open = 0;
  for (size_t i = start; i < tokens.size(); ++i) {
    open += tokens[i].kind == XmlKind::start ? 1 : 0;
    open -= tokens[i].kind == XmlKind::end ? 1 : 0;
    if (open == 0) return i + 1;
  }
  return tokens.size();
}

DocumentBlock inline_block(std::span<const XmlToken> tokens, InlineCode (*rule)(const XmlToken& tag),
                           InlineSettings settings) {
  Paragraph paragraph({.escape = escape_xml, .collapsed = settings.collapsed});
  Pieces(tokens, rule).add_to(paragraph);
  return std::move(paragraph).block(std::string(bytes_of(tokens)));
}

}  // namespace dragoman::internal
