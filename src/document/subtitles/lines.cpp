#include "document/subtitles/lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <unicode/utf8.h>

#include "text/scripts.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using TokenKind = InlineToken::Kind;

// Also the time <00:01:02.500> of WebVTT's karaoke.
std::string_view subtitle_tag_at(std::string_view text, bool is_vtt) {
  if (const std::string_view tag = tag_at(text); !tag.empty()) return tag;
  if (!is_vtt || !text.starts_with('<')) return {};
  const size_t end = text.find_first_not_of("0123456789:.", 1);
  return end == text.npos || text[end] != '>' ? std::string_view() : text.substr(0, end + 1);
}

// {\an8}, {\i1} and {y:i}, which players take from other formats.
std::string_view override_at(std::string_view text) {
  if (!text.starts_with('{') || text.size() < 3 || (text[1] != '\\' && text[2] != ':')) return {};
  const size_t end = text.find_first_of("{}", 1);
  return end == text.npos || text[end] != '}' ? std::string_view() : text.substr(0, end + 1);
}

InlineToken override_token(std::string_view code, TextSpan place) {
  static constexpr std::string_view switches = "ibus";
  const bool is_switch = code.size() == 5 && switches.find(code[2]) != switches.npos;  // {\i1}
  if (is_switch && code[3] == '1') return {TokenKind::open, place, std::string(code.substr(1, 2))};
  if (is_switch && code[3] == '0') return {TokenKind::close, place, std::string(code.substr(1, 2))};
  return {TokenKind::point, place, ""};
}

// The token at the beginning of a text; nothing if that is a word.
std::optional<InlineToken> markup_at(std::string_view text, size_t at, bool is_vtt) {
  if (const size_t size = leading_space(text); size > 0)
    return InlineToken{TokenKind::space, {at, at + size}, std::string(text.substr(0, size))};
  if (const std::string_view tag = subtitle_tag_at(text, is_vtt); !tag.empty()) {
    if (tag[1] >= '0' && tag[1] <= '9') return InlineToken{TokenKind::point, {at, at + tag.size()}, ""};
    return tag_token(tag, {at, at + tag.size()});
  }
  if (const std::string_view code = override_at(text); !code.empty())
    return override_token(code, {at, at + code.size()});
  return {};
}

// The token at the beginning of a non-empty text.
InlineToken token_at(std::string_view text, size_t at, bool is_vtt) {
  if (auto markup = markup_at(text, at, is_vtt)) return *std::move(markup);
  if (const Entity entity = is_vtt ? entity_at(text) : Entity(); entity.size > 0)
    return {is_space(entity.character) ? TokenKind::space : TokenKind::text,
            {at, at + entity.size},
            to_utf8(entity.character)};
  size_t end = 0;
  do {
    U8_FWD_1(text.data(), end, text.size());
  } while (end < text.size() && std::string_view("<{&").find(text[end]) == std::string_view::npos &&
           leading_space(text.substr(end)) == 0);
  return {TokenKind::text, {at, at + end}, std::string(text.substr(0, end))};
}

std::vector<InlineToken> tokens_of(std::string_view file, TextSpan place, bool is_vtt) {
  std::vector<InlineToken> tokens;
  for (size_t at = place.begin; at < place.end; at = tokens.back().place.end)
    tokens.push_back(token_at(file.substr(at, place.end - at), at, is_vtt));
  return tokens;
}

constexpr size_t size_of_note = std::string_view("♪").size();

bool begins_with_note(std::string_view text) { return text.starts_with("♪") || text.starts_with("♫"); }

// Where the next note is; the size of the text if there is none.
size_t next_note(std::string_view text) {
  const std::string_view both = std::string_view("♪").substr(0, size_of_note - 1);  // begin with these bytes
  size_t at = text.find(both);
  while (at < text.size() && !begins_with_note(text.substr(at))) at = text.find(both, at + 1);
  return std::min(at, text.size());
}

// Reads a line from its beginning.
class Line {
 public:
  Line(std::string_view file, TextSpan line, bool is_vtt) : file_(file), place_(line), is_vtt_(is_vtt) {}

  std::vector<SubtitleStretch> stretches() && {
    skip_tags();
    begins_ = skip_dash();
    begins_ = skip_label() || begins_;
    do {
      while (take_sound() || skip_note()) {}
    } while (take_words_before_note());
    return std::move(stretches_);
  }

 private:
  void add(TextSpan place, bool ends) {
    InlineRun run = inline_run(tokens_of(file_, place, is_vtt_));
    if (run.tokens.empty()) return;
    stretches_.push_back({std::move(run), std::exchange(begins_, false), ends, std::exchange(voice_, {})});
  }

  // White space and tags. A tag that closes in the middle of the line belongs to the text.
  void skip_tags() {
    size_t at = place_.begin;
    while (at < place_.end) {
      const auto token = markup_at(file_.substr(at, place_.end - at), at, is_vtt_);
      if (!token) break;
      if (token->kind == TokenKind::open && token->text == "v")
        voice_ = file_.substr(at, token->place.end - at);
      at = token->place.end;
    }
    text_ = at;
  }

  std::string_view words() const { return file_.substr(text_, place_.end - text_); }

  // The speech begins after `size` bytes of the text.
  bool skip_words(size_t size) {
    place_.begin = text_ + size;
    skip_tags();
    return true;
  }

  bool skip_dash() {
    static constexpr std::array<std::string_view, 5> dashes = {"-", "–", "—", "‐", "―"};
    for (const std::string_view dash : dashes) {
      if (!words().starts_with(dash)) continue;
      const std::string_view speech = words().substr(dash.size());
      if (speech.empty() || speech[0] == '-' || (speech[0] >= '0' && speech[0] <= '9')) return false;
      return skip_words(dash.size());
    }
    return false;
  }

  // "JOHN: " before words that are not all capitals.
  bool skip_label() {
    constexpr size_t longest = 40;
    const size_t colon = words().substr(0, longest).find(':');
    if (colon == std::string_view::npos || colon < 2) return false;
    const std::string_view label = words().substr(0, colon), speech = words().substr(colon + 1);
    if (label.find_first_of("<>{}!?[]") != label.npos || !has_letters(label) ||
        has_character(label, is_lower))
      return false;
    const bool spoken =
        is_white_space(speech) || (leading_space(speech) > 0 && has_character(speech, is_lower));
    return spoken && skip_words(colon + 1);
  }

  // [music] or (laughs) at the beginning of what is left.
  bool take_sound() {
    constexpr size_t longest = 500;
    const bool square = words().starts_with('['), round = words().starts_with('(');
    if (!square && !round) return false;
    const size_t end = words().substr(0, longest).find(square ? ']' : ')');
    if (end == std::string_view::npos) return false;
    const std::string_view sound = words().substr(1, end - 1);
    const std::string_view near = words().substr(end + 1, longest);
    const size_t behind = text_ + end + 1;
    if (round && std::ranges::count(sound, ' ') > 2 &&
        !inline_run(tokens_of(file_, {behind, behind + next_note(near)}, is_vtt_)).tokens.empty())
      return false;  // it may be a part of a sentence
    begins_ = true;
    add({text_ + 1, text_ + end}, true);
    begins_ = true;
    return skip_words(end + 1);
  }

  bool skip_note() {
    if (!begins_with_note(words())) return false;
    begins_ = true;
    return skip_words(size_of_note);
  }

  // Whether a note follows them.
  bool take_words_before_note() {
    const size_t size = next_note(words());
    const bool ends = size < words().size();
    add({place_.begin, text_ + size}, ends);
    return ends && skip_words(size);
  }

  std::string_view file_;
  TextSpan place_;   // what is left of the line
  size_t text_ = 0;  // where its first word begins, after tags
  bool is_vtt_, begins_ = false;
  std::string voice_ = {};
  std::vector<SubtitleStretch> stretches_ = {};
};

}  // namespace

std::vector<SubtitleStretch> stretches_of(std::string_view file, TextSpan line, bool is_vtt) {
  return Line(file, line, is_vtt).stretches();
}

}  // namespace dragoman::internal
