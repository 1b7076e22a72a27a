#include "document/messages/strings.h"

#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/utf8.h"
#include "document/messages/icu.h"
#include "document/placeholders.h"
#include "document/segments/inline_text.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using TokenKind = InlineToken::Kind;

// A string without its escapes, with the place of each of its bytes in the file, and where the last one ends.
struct Decoded {
  std::string text;
  std::vector<size_t> places;
};

Decoded decoded(std::string_view bytes, const StringSyntax& syntax) {
  Decoded result;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = syntax.decode(bytes.substr(at), result.text);
    result.places.resize(result.text.size(), at);
    at += size;
  }
  result.places.push_back(bytes.size());
  return result;
}

UChar32 character_at(std::string_view text, size_t at) {
  UChar32 c = -1;
  if (at < text.size()) U8_NEXT(text.data(), at, text.size(), c);
  return c;
}

// Where the character that ends at `end` begins.
size_t before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && is_continuation(text[end]));
  return end;
}

UChar32 character_before(std::string_view text, size_t at) {
  return at > 0 ? character_at(text, before(text, at)) : -1;
}

bool is_lower(UChar32 c) { return c >= 0 && u_islower(c); }

// Where the sign of an access key is: before a letter, the only one of its kind, at the beginning of a word or in
// one such as "E&xit", unlike that of "AT&T" or "file_name".
std::optional<size_t> access_key(std::string_view text) {
  for (const char sign : {'&', '_', '~'}) {
    const size_t at = text.find(sign);
    if (at == text.npos || text.find(sign, at + 1) != text.npos || entity_at(text.substr(at)).size > 0)
      continue;
    const UChar32 after = character_at(text, at + 1), left = character_before(text, at);
    if (after < 0 || !u_isalpha(after)) continue;
    if (left < 0 || is_space(static_cast<char32_t>(left))) return at;
    size_t word = at;
    while (word > 0 && u_isalpha(character_before(text, word))) word = before(text, word);
    const bool begins_word = word == 0 || is_space(static_cast<char32_t>(character_before(text, word)));
    if (sign != '~' && word < at && begins_word && u_isupper(character_at(text, word)) && is_lower(after))
      return at;
  }
  return {};
}

// The tokens of the lines of one text.
class MessageText {
 public:
  MessageText(const Decoded& message, IcuText text, bool is_icu, const FormatGrammar* grammar)
      : message_(message),
        all_(message.text),
        end_(text.place.end),
        at_(text.place.begin),
        is_icu_(is_icu),
        grammar_(grammar),
        signs_(grammar != nullptr ? format_signs(*grammar) : std::string_view()),
        in_plural_(text.in_plural) {
    const std::string_view inner = all_.substr(at_, end_ - at_);
    if (const auto key = access_key(inner); key && !is_icu) key_ = at_ + *key;
    for (size_t i = inner.find('&'); i != inner.npos && !has_entities_; i = inner.find('&', i + 1))
      has_entities_ = entity_at(inner.substr(i)).size > 0;
  }

  bool has_entities() const { return has_entities_; }
  bool in_plural() const { return in_plural_; }
  bool at_end() const { return at_ == end_; }

  // To the end of the line, and past it.
  std::vector<InlineToken> line() {
    std::vector<InlineToken> tokens;
    while (at_ < end_ && all_[at_] != '\n') next(tokens);
    if (at_ < end_) ++at_;
    return tokens;
  }

 private:
  std::string_view rest() const { return all_.substr(at_, end_ - at_); }

  TextSpan file_place(size_t begin, size_t end) const {
    return {message_.places[begin], message_.places[end]};
  }

  InlineToken take(TokenKind kind, size_t size, std::string text = "") {
    at_ += size;
    return {kind, file_place(at_ - size, at_), std::move(text)};
  }

  void next(std::vector<InlineToken>& tokens) {
    if (const size_t size = space_here(); size > 0) {
      tokens.push_back(take(TokenKind::space, size, std::string(rest().substr(0, size))));
    } else if (const FormatPart part = format_part_here(); part.kind != FormatPart::Kind::text) {
      const bool is_directive = part.kind == FormatPart::Kind::directive;
      tokens.push_back(is_directive ? take(TokenKind::fixed, part.size, shown_in(part))
                                    : take(TokenKind::text, part.size, std::string(1, part.character)));
    } else if (const size_t argument = is_icu_ ? icu_argument_at(rest()) : 0; argument > 0) {
      tokens.push_back(take(TokenKind::fixed, argument, std::string(rest().substr(0, argument))));
    } else if (const std::string_view tag = tag_at(rest()); !tag.empty()) {
      InlineToken token = tag_token(tag, file_place(at_, at_ + tag.size()));
      at_ += tag.size();
      tokens.push_back(std::move(token));
    } else if (const size_t kept = icu_syntax_here(); kept > 0) {
      tokens.push_back(take(TokenKind::point, kept));
    } else if (at_ == key_) {
      add_key(tokens);
    } else {
      tokens.push_back(word());
    }
  }

  // The white space in this line, whose end is searched for once.
  size_t space_here() {
    if (line_end_ <= at_) line_end_ = at_ + std::min(rest().find('\n'), rest().size());
    return leading_space(all_.substr(at_, line_end_ - at_));
  }

  // A word, so that it has a place among the others.
  std::string shown_in(const FormatPart& part) const {
    const TextSpan inner = trimmed(part.shown.of(rest()));
    if (inner.begin == inner.end) return std::string(rest().substr(0, part.size));
    return std::string(inner.of(part.shown.of(rest())));
  }

  FormatPart format_part_here() const {
    return grammar_ != nullptr ? format_part(*grammar_, rest()) : FormatPart();
  }

  // # in a plural.
  size_t icu_syntax_here() const { return in_plural_ && rest().starts_with('#') ? 1 : 0; }

  // '{' or '{literally}', in which two apostrophes are one.
  bool is_quoted_here() const {
    if (!is_icu_ || rest().size() < 2 || rest()[0] != '\'') return false;
    return rest()[1] == '{' || rest()[1] == '}' || (in_plural_ && rest()[1] == '#');
  }
  InlineToken quoted() {
    std::string text;
    size_t size = 1;
    for (; size < rest().size(); ++size) {
      if (rest()[size] == '\'' && !rest().substr(size + 1).starts_with('\'')) break;
      text += rest()[size];
      if (rest()[size] == '\'') ++size;
    }
    return take(TokenKind::text, std::min(size + 1, rest().size()), text);
  }

  // Before the word that the access key is in.
  void add_key(std::vector<InlineToken>& tokens) {
    const bool in_word = !tokens.empty() && tokens.back().kind == TokenKind::text;
    tokens.insert(tokens.end() - (in_word ? 1 : 0), take(TokenKind::prefix, 1));
  }

  InlineToken word() {
    if (const Entity entity = has_entities_ ? entity_at(rest()) : Entity(); entity.size > 0)
      return take(TokenKind::text, entity.size, to_utf8(entity.character));
    if (is_quoted_here()) return quoted();
    if (is_icu_ && rest().starts_with("''")) return take(TokenKind::text, 2, "'");
    size_t end = at_;
    do {
      U8_FWD_1(all_.data(), end, end_);
    } while (end < end_ && end != key_ && !may_be_syntax(all_[end]) &&
             leading_space(all_.substr(end, end_ - end)) == 0);
    return take(TokenKind::text, end - at_, std::string(all_.substr(at_, end - at_)));
  }

  bool may_be_syntax(char c) const {
    return c == '<' || c == '\n' || (has_entities_ && c == '&') || (is_icu_ && (c == '\'' || c == '{')) ||
           (in_plural_ && c == '#') || signs_.find(c) != signs_.npos;
  }

  const Decoded& message_;
  std::string_view all_;
  size_t end_, at_, line_end_ = 0;
  bool is_icu_;
  const FormatGrammar* grammar_;
  std::string_view signs_;
  bool in_plural_, has_entities_ = false;
  size_t key_ = static_cast<size_t>(-1);
};

// Whether a sentence continues on the next line, so that the line break has no meaning.
bool goes_on(const InlineRun& line, const InlineRun& next) {
  constexpr size_t long_line = 50;
  const std::string before = plain_text(line);
  if (line.unpaired || ends_with_sentence_mark(before) || before.ends_with(':')) return false;
  const UChar32 first = character_at(plain_text(next), 0);
  return is_lower(first) || (before.size() > long_line && first >= 0 && u_isalpha(first));
}

// With apostrophes, and what has a meaning to ICU, as its messages need them.
std::string escape_icu(std::string_view text, bool in_plural) {
  const std::string_view signs = in_plural ? "{}#" : "{}";
  const bool has_signs = text.find_first_of(signs) != text.npos;
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (signs.find(text[i]) != signs.npos) {
      result += {'\'', text[i], '\''};
      continue;
    }
    result += text[i];
    const bool quotes = has_signs || i + 1 == text.size() || text[i + 1] == '#' || text[i + 1] == '\'';
    if (text[i] == '\'' && quotes) result += '\'';
  }
  return result;
}

// Directives are none.
bool has_no_words(const DocumentSegment& segment) {
  std::string words;
  size_t at = 0;
  for (const DocumentMark& mark : segment.marks) {
    if (mark.kind != DocumentMark::Kind::fixed) continue;
    words += segment.text.substr(at, mark.place.begin - at) + ' ';
    at = mark.place.end;
  }
  return is_only_placeholders(words + segment.text.substr(at));
}

// Of a segment of several lines: placing them in its translation takes time proportional to their number times the
// square of its words.
constexpr size_t most_lines = 20, most_joined_bytes = 4000;

class MessageParts {
 public:
  MessageParts(std::string_view bytes, const StringSyntax& syntax, const FormatGrammar* grammar)
      : bytes_(bytes), syntax_(syntax), grammar_(grammar) {}

  void add(MessageText text, bool is_icu) {
    const auto escape = [whole = syntax_.escape[text.has_entities()], grammar = is_icu ? nullptr : grammar_,
                         is_icu, in_plural = text.in_plural()](std::string_view words) {
      if (is_icu) return whole(escape_icu(words, in_plural));
      return whole(grammar != nullptr ? escape_format(*grammar, words) : std::string(words));
    };
    std::vector<InlineRun> runs;
    size_t bytes = 0;  // of their text
    while (!text.at_end()) {
      InlineRun run = inline_run(text.line());
      const size_t more = plain_text(run).size();
      const bool ends = run.tokens.empty() || runs.size() == most_lines || bytes + more > most_joined_bytes;
      if (!runs.empty() && (ends || !goes_on(runs.back(), run))) add_segment(runs, escape);
      if (runs.empty()) bytes = 0;
      bytes += more;
      if (!run.tokens.empty()) runs.push_back(std::move(run));
    }
    add_segment(runs, escape);
  }

  std::vector<MessagePart> finish() && {
    if (kept_ < bytes_.size()) parts_.push_back({std::string(bytes_.substr(kept_)), {}});
    return std::move(parts_);
  }

 private:
  void add_segment(std::vector<InlineRun>& runs, const std::function<std::string(std::string_view)>& escape) {
    if (runs.empty()) return;
    const TextSpan place = {runs.front().place.begin, runs.back().place.end};
    DocumentSegment segment = joined(runs, bytes_, escape);
    runs.clear();
    if (has_no_words(segment)) return;
    parts_.push_back({std::string(bytes_.substr(kept_, place.begin - kept_)), std::move(segment)});
    kept_ = place.end;
  }

  std::string_view bytes_;
  const StringSyntax& syntax_;
  const FormatGrammar* grammar_;
  size_t kept_ = 0;
  std::vector<MessagePart> parts_ = {};
};

}  // namespace

std::vector<MessagePart> message_parts(std::string_view bytes, const StringSyntax& syntax, MessageKind kind) {
  const Decoded message = decoded(bytes, syntax);
  MessageParts parts(bytes, syntax, kind.grammar);
  if (message.text.find('\0') != message.text.npos) return std::move(parts).finish();
  const bool has_choices = kind.may_be_icu && has_icu_choices(message.text);
  const bool is_icu = has_choices || kind.is_icu;
  const auto texts = is_icu ? icu_texts(message.text) : std::nullopt;
  if (texts) {
    for (const IcuText text : *texts) parts.add(MessageText(message, text, true, nullptr), true);
  } else if (!has_choices) {
    parts.add(MessageText(message, {{0, message.text.size()}}, false, kind.grammar), false);
  }
  return std::move(parts).finish();
}

size_t decode_character(std::string_view bytes, const StringEscapes& escapes, std::string& text) {
  const size_t known =
      bytes.size() > 1 && bytes[0] == '\\' ? escapes.codes.find(bytes[1]) : std::string_view::npos;
  if (known != std::string_view::npos) {
    text += escapes.characters[known];
    return 2;
  }
  size_t size = 0;
  U8_FWD_1(bytes.data(), size, bytes.size());
  text += bytes.substr(0, size);
  return size;
}

std::string escape_characters(std::string_view text, const StringEscapes& escapes) {
  std::string escaped;
  for (const char c : text) {
    const size_t known = escapes.characters.find(c);
    if (known == std::string_view::npos) {
      escaped += c;
    } else {
      escaped += {'\\', escapes.codes[known]};
    }
  }
  return escaped;
}

size_t decode_as_is(std::string_view bytes, std::string& text) { return decode_character(bytes, {}, text); }

std::string escape_as_is(std::string_view text) { return std::string(text); }

}  // namespace dragoman::internal
