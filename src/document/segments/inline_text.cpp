#include "document/segments/inline_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using TokenKind = InlineToken::Kind;

constexpr size_t no_partner = static_cast<size_t>(-1);

// Of each tag the index of the tag that closes or opens it. Tags that are nested too deeply have none, since closing a
// span visits every mark inside it.
std::vector<size_t> partners_of(const std::vector<InlineToken>& tokens) {
  constexpr size_t deepest =
      16;  // levels between a closing tag and its opening one: wrong nesting stays cheap
  constexpr size_t most_spans = 100;
  std::vector<size_t> partners(tokens.size(), no_partner), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::open) open.push_back(i);
    if (tokens[i].kind != TokenKind::close) continue;
    const auto last = open.size() > deepest ? open.rbegin() + deepest : open.rend();
    const auto found =
        std::find_if(open.rbegin(), last, [&](size_t tag) { return tokens[tag].text == tokens[i].text; });
    if (found == last) continue;
    partners[i] = *found;
    partners[*found] = i;
    open.erase(found.base() - 1, open.end());
  }
  size_t spans = 0;  // around this tag
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (partners[i] == no_partner) continue;
    if (partners[i] < i) {
      --spans;
    } else if (spans < most_spans) {
      ++spans;
    } else {
      partners[partners[i]] = no_partner;
      partners[i] = no_partner;
    }
  }
  return partners;
}

// A segment's text as it grows, with the spans that are open.
class SegmentInProgress {
 public:
  SegmentInProgress(DocumentSegment& segment, std::string_view file) : segment_(segment), file_(file) {}

  void add(const InlineToken& token) {
    std::string& text = segment_.text;
    const std::string bytes(token.place.of(file_));
    switch (token.kind) {
      case TokenKind::text:
        text += token.text;
        after_space_ = false;
        last_tag_ = no_tag;
        break;
      case TokenKind::fixed:
        segment_.marks.push_back({.kind = DocumentMark::Kind::fixed,
                                  .place = {text.size(), text.size() + token.text.size()},
                                  .depth = open_.size(),
                                  .open = bytes,
                                  .touches = true});
        text += token.text;
        after_space_ = false;
        last_tag_ = no_tag;
        break;
      case TokenKind::space:
        if (!after_space_) {
          text += token.text;
        } else if (last_tag_ < segment_.marks.size()) {
          DocumentMark& mark = segment_.marks[last_tag_];
          (mark.close.empty() ? mark.open : mark.close) +=
              bytes;  // to a reader it is the space before the tag
        }
        after_space_ = true;
        break;
      case TokenKind::open:
        mark(DocumentMark::Kind::span, bytes);
        open_.push_back(segment_.marks.size() - 1);
        break;
      case TokenKind::point:
      case TokenKind::prefix:
        mark(DocumentMark::Kind::point, bytes);
        break;
      case TokenKind::close:
        close(bytes);
        break;
    }
  }

  void cut(TextSpan between) {
    last_tag_ = no_tag;
    segment_.text += ' ';
    segment_.marks.push_back({.kind = DocumentMark::Kind::cut,
                              .place = {segment_.text.size() - 1, segment_.text.size()},
                              .open = std::string(between.of(file_))});
    after_space_ = true;
  }

 private:
  void mark(DocumentMark::Kind kind, const std::string& bytes) {
    const size_t here = segment_.text.size();
    last_tag_ = segment_.marks.size();
    segment_.marks.push_back({.kind = kind, .place = {here, here}, .depth = open_.size(), .open = bytes});
  }

  void close(const std::string& bytes) {
    const size_t index = open_.back();
    last_tag_ = index;
    open_.pop_back();
    std::vector<DocumentMark>& marks = segment_.marks;
    DocumentMark& span = marks[index];
    const size_t begin = span.place.begin;
    const TextSpan words = trimmed(std::string_view(segment_.text).substr(begin));
    span.place = {begin + words.begin, begin + words.end};
    span.close = bytes;
    const std::span inside = std::span(marks).subspan(index + 1);
    for (DocumentMark& mark : inside) {
      mark.place.begin = std::clamp(mark.place.begin, span.place.begin, span.place.end);
      mark.place.end = std::clamp(mark.place.end, span.place.begin, span.place.end);
    }
    if (words.begin < words.end) return;
    span.kind = DocumentMark::Kind::point;  // there are no words between the tags
    for (const DocumentMark& mark : inside) span.open += mark.open;
    span.open += std::exchange(span.close, {});
    marks.resize(index + 1);
  }

  static constexpr size_t no_tag = static_cast<size_t>(-1);

  DocumentSegment& segment_;
  std::string_view file_;
  std::vector<size_t> open_;  // indices of marks
  size_t last_tag_ = no_tag;  // the mark that no word has followed yet
  bool after_space_ = true;   // white space on both sides of a tag is one space to a reader
};

bool ends_with_any(std::string_view text, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

std::string_view without_closers(std::string_view text) {
  static constexpr std::array<std::string_view, 12> closers = {"\"", "'", ")",  "]",  "”",  "’",
                                                               "»",  "“", "」", "』", "）", "›"};
  while (ends_with_any(text, closers)) {
    const auto closer = std::ranges::find_if(closers, [&](auto c) { return text.ends_with(c); });
    text.remove_suffix(closer->size());
  }
  return text.substr(0, trimmed(text).end);
}

bool ends_with_sentence_mark(std::string_view text) {
  static constexpr std::array<std::string_view, 11> marks = {".", "!", "?", "。", "！", "？",
                                                             "؟", "।", "…", "—",  "--"};
  return ends_with_any(without_closers(text), marks);
}

InlineRun inline_run(std::vector<InlineToken> tokens) {
  const auto is_text = [](const InlineToken& token) {
    return token.kind == TokenKind::text || token.kind == TokenKind::fixed;
  };
  const auto found = std::ranges::find_if(tokens, is_text);
  if (found == tokens.end()) return {};
  const auto first = static_cast<size_t>(found - tokens.begin());
  const auto last =
      static_cast<size_t>(std::find_if(tokens.rbegin(), tokens.rend(), is_text).base() - tokens.begin()) - 1;
  const std::vector<size_t> partners = partners_of(tokens);
  const auto inside = [&](size_t tag) { return partners[tag] > first && partners[tag] < last; };
  size_t begin = 0, end = tokens.size() - 1;
  while (begin < first && !inside(begin) && tokens[begin].kind != TokenKind::prefix) ++begin;
  while (end > last && !inside(end)) --end;
  InlineRun run;
  for (size_t i = begin; i <= end; ++i) {
    InlineToken& token = tokens[i];
    if ((token.kind == TokenKind::open || token.kind == TokenKind::close) &&
        (partners[i] == no_partner || partners[i] < begin || partners[i] > end)) {
      token.kind = TokenKind::point;
      run.unpaired = true;
    }
    run.tokens.push_back(std::move(token));
  }
  run.place = run.tokens.front().place;
  for (const InlineToken& token : run.tokens)  // a prefix may be inside the word that it is moved in front of
    run.place = {std::min(run.place.begin, token.place.begin), std::max(run.place.end, token.place.end)};
  return run;
}

std::string plain_text(const InlineRun& run) {
  std::string text;
  for (const InlineToken& token : run.tokens)
    if (token.kind == TokenKind::text || token.kind == TokenKind::space || token.kind == TokenKind::fixed)
      text += token.text;
  return text;
}

DocumentSegment joined(std::span<const InlineRun> runs, std::string_view file,
                       std::function<std::string(std::string_view)> escape) {
  DocumentSegment segment = {
      .original = std::string(TextSpan{runs.front().place.begin, runs.back().place.end}.of(file)),
      .escape = std::move(escape)};
  SegmentInProgress in_progress(segment, file);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) in_progress.cut({runs[i - 1].place.end, runs[i].place.begin});
    for (const InlineToken& token : runs[i].tokens) in_progress.add(token);
  }
  segment.text.resize(trimmed(segment.text).end);
  for (DocumentMark& mark : segment.marks) {
    mark.place.begin = std::min(mark.place.begin, segment.text.size());
    mark.place.end = std::min(mark.place.end, segment.text.size());
  }
  return segment;
}

std::string_view tag_at(std::string_view text) {
  if (!text.starts_with('<')) return {};
  const size_t name = text.substr(1).starts_with('/') ? 2 : 1;
  size_t after = name;
  while (after < text.size() && is_alphanumeric(text[after])) ++after;
  if (after == name || after == text.size()) return {};
  const std::string_view enders = text[name] <= '9' ? "/>" : " \t./>";  // <1>…</1>, but not <3 times
  const size_t end = text.find_first_of("<>\n\r", after);
  if (enders.find(text[after]) == enders.npos || end == text.npos || text[end] != '>') return {};
  return text.substr(0, end + 1);
}

InlineToken tag_token(std::string_view tag, TextSpan place) {
  const bool closes = tag[1] == '/';
  const size_t name = closes ? 2 : 1;
  const TokenKind kind = closes                       ? TokenKind::close
                         : tag[tag.size() - 2] == '/' ? TokenKind::point
                                                      : TokenKind::open;
  return {kind, place, std::string(tag.substr(name, tag.find_first_of(" \t./>", name) - name))};
}

Entity entity_at(std::string_view text) {
  struct Named {
    std::string_view name;
    char32_t character;
  };
  static constexpr std::array<Named, 8> names = {{{"amp", '&'},
                                                  {"lt", '<'},
                                                  {"gt", '>'},
                                                  {"quot", '"'},
                                                  {"apos", '\''},
                                                  {"nbsp", 0xA0},
                                                  {"lrm", 0x200E},
                                                  {"rlm", 0x200F}}};
  const size_t end = text.substr(0, 12).find(';');
  if (!text.starts_with('&') || end == text.npos) return {};
  const std::string_view name = text.substr(1, end - 1);
  for (const Named& named : names)
    if (named.name == name) return {named.character, end + 1};
  if (!name.starts_with('#')) return {};
  const bool hexadecimal = name.starts_with("#x") || name.starts_with("#X");
  const auto number = parse_number<uint32_t>(name.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  return !number || *number < 0x20 || to_utf8(*number).empty() ? Entity{} : Entity{*number, end + 1};
}

}  // namespace dragoman::internal
