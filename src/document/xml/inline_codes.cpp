#include "document/xml/inline_codes.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

using Kind = InlineCode::Kind;
using Token = XmlToken::Kind;

// A code, or text between codes: tokens [begin, end). The end tag of a pair of tags is a code of its own.
struct Piece {
  size_t begin, end;
  InlineCode code = {};
  bool is_end_tag = false;
  bool paired = false;  // of elements
};

class Pieces {
 public:
  Pieces(std::span<const XmlToken> tokens, InlineCode (*rule)(const XmlToken& tag)) : tokens_(tokens) {
    for (size_t i = 0; i < tokens.size(); i = pieces_.back().end) {
      const Token kind = tokens[i].kind;
      if (kind == Token::start || kind == Token::empty)
        start(i, rule(tokens[i]));
      else if (kind == Token::end)
        end(i);
      else
        pieces_.push_back({i, i + 1});
    }
  }

  void add_to(Paragraph& paragraph) const {
    for (const Piece& piece : pieces_) add(piece, paragraph);
  }

 private:
  void start(size_t token, InlineCode code) {
    const bool is_pair = code.kind == Kind::tags || code.kind == Kind::border;
    const bool has_end = is_pair && tokens_[token].kind == Token::start;
    if (is_pair && !has_end) code.kind = code.kind == Kind::tags ? Kind::point : Kind::border;
    if (code.kind == Kind::close) find_partner(code.pair);
    const bool paired = code.kind == Kind::close && !open_.empty() &&
                        pieces_[open_.back()].code.pair == code.pair &&
                        pieces_[open_.back()].code.kind == Kind::open;
    if (paired) {
      pieces_[open_.back()].paired = true;
      open_.pop_back();
    }
    if (has_end || code.kind == Kind::open) open_.push_back(pieces_.size());
    const size_t end = has_end ? token + 1 : element_end(tokens_, token);
    pieces_.push_back({token, end, std::move(code), false, paired});
  }

  // Codes opened after the partner, in the same element, cross it and have no partner.
  void find_partner(const std::string& pair) {
    for (size_t i = open_.size(); i > 0; --i) {
      const InlineCode& code = pieces_[open_[i - 1]].code;
      if (code.kind != Kind::open) return;
      if (code.pair == pair) return open_.resize(i);
    }
  }

  void end(size_t token) {
    while (!open_.empty() && pieces_[open_.back()].code.kind == Kind::open) open_.pop_back();
    InlineCode code;
    if (!open_.empty()) {
      code = pieces_[open_.back()].code;
      open_.pop_back();
    }
    pieces_.push_back({token, token + 1, code, true});
  }

  void add(const Piece& piece, Paragraph& paragraph) const {
    const XmlToken& first = tokens_[piece.begin];
    std::string bytes(bytes_of(tokens_.subspan(piece.begin, piece.end - piece.begin)));
    constexpr std::string_view cdata = "<![CDATA[", cdata_end = "]]>";
    if (first.kind == Token::text)
      paragraph.text(decode_xml(bytes));
    else if (first.kind == Token::cdata)
      paragraph.text(bytes.substr(cdata.size(), bytes.size() - cdata.size() - cdata_end.size()));
    else if (piece.code.kind == Kind::fixed)
      paragraph.fixed(std::move(bytes), words_of(piece));
    else if (piece.code.kind == Kind::border)
      paragraph.border(std::move(bytes));
    else if (piece.is_end_tag)
      paragraph.close(std::move(bytes), std::string(first.name));
    else if (piece.code.kind == Kind::tags)
      paragraph.open(std::move(bytes), std::string(first.name));
    else if (piece.paired && piece.code.kind == Kind::open)
      paragraph.open(std::move(bytes), "code " + piece.code.pair);
    else if (piece.paired)
      paragraph.close(std::move(bytes), "code " + piece.code.pair);
    else
      paragraph.point(std::move(bytes));
  }

  std::string words_of(const Piece& piece) const {
    std::string words;
    for (size_t i = piece.begin; i < piece.end; ++i)
      if (tokens_[i].kind == Token::text) words += decode_xml(tokens_[i].bytes);
    return words;
  }

  std::span<const XmlToken> tokens_;
  std::vector<Piece> pieces_;
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
    open += tokens[i].kind == Token::start ? 1 : 0;
    open -= tokens[i].kind == Token::end ? 1 : 0;
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
