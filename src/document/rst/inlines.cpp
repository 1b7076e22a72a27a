#include "document/rst/inlines.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view rst_blanks = " \t\r\n";

bool is_any(char c, std::string_view set) { return set.find(c) != set.npos; }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Around markup, and around what a pair of tags encloses. No UTF-8 has these bytes; with_rst_borders removes them.
constexpr char before_markup = '\xFD', after_markup = '\xFC', after_open = '\xFB', before_close = '\xFA';
// After what a pair of tags encloses where its words have no translation, at the beginning of the closing tag.
constexpr char after_default = '\xF9';

// Whether markup may begin after a text, or end before one. The border of a title is at its ends.
bool may_begin_after(std::string_view text) {
  if (text.empty() || is_any(text.back(), " \t\r\n'\"([{<-/:\xFE")) return true;
  size_t begin = text.size() - 1;
  while (begin > 0 && is_continuation(text[begin])) --begin;
  const std::u32string last = code_points(text.substr(begin));
  return is_wide(text.back()) && is_punctuation(last[0]);
}
bool may_end_before(std::string_view text) {
  if (text.empty() || is_any(text[0], " \t\r\n'\")]}>-/:.,;!?\\\xFE")) return true;
  return is_wide(text[0]) && is_punctuation(code_points(text.substr(0, 4))[0]);
}

// A construct at a place, with its parts.
struct RstMarkup {
  size_t size = 0;  // 0: there is none
  enum class Kind { span, fixed, point } kind = Kind::fixed;
  TextSpan inner = {};       // that is translated or shown
  std::string written = {};  // the closing tag in a translation, where it differs
};

class RstInlines {
 public:
  RstInlines(SegmentBuilder& builder, std::string_view text) : builder_(builder), text_(text) {}

  void read() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        escape();
      } else if (const RstMarkup markup = whole_markup_here(); markup.size > 0) {
        add(markup);
      } else {
        ++at_;
      }
    }
    flush();
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  // None, unless it begins and ends where markup may.
  RstMarkup whole_markup_here() const {
    if (at_ != markup_end_ && !may_begin_after(text_.substr(0, at_))) return {};
    RstMarkup markup = markup_here();
    return may_end_before(text_.substr(at_ + markup.size)) ? markup : RstMarkup();
  }

  void flush() {
    builder_.text(text_.substr(plain_, at_ - plain_));
    plain_ = at_;
  }

  // A backslash before white space joins what is beside it.
  void escape() {
    flush();
    const std::string_view bytes = text_.substr(at_, 2);
    if (is_wide(bytes[1])) {
      builder_.text(text_.substr(at_, 1));
      plain_ = ++at_;
      return;
    }
    if (is_any(bytes[1], rst_blanks))
      builder_.point(bytes);
    else
      builder_.text(bytes, bytes.substr(1));
    plain_ = at_ += 2;
  }

  void add(const RstMarkup& markup) {
    flush();
    const std::string_view bytes = text_.substr(at_, markup.size), shown = markup.inner.of(bytes);
    const auto close = [](std::string_view tag) { return before_close + std::string(tag) + after_markup; };
    if (markup.kind == RstMarkup::Kind::span) {
      builder_.open(before_markup + std::string(bytes.substr(0, markup.inner.begin)) + after_open, "span");
      RstInlines(builder_, shown).add_plain();
      builder_.close(close(bytes.substr(markup.inner.end)), "span",
                     markup.written.empty() ? "" : close(markup.written));
    } else {
      const std::string whole = before_markup + std::string(bytes) + after_markup;
      if (markup.kind == RstMarkup::Kind::fixed)
        builder_.fixed(whole, shown);
      else
        builder_.point(whole);
    }
    markup_end_ = plain_ = at_ += markup.size;
  }

  // Markup does not nest.
  void add_plain() {
    for (; at_ < text_.size(); ++at_)
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        escape();
        --at_;
      }
    flush();
  }

  // Where markup with this end ends; npos: it does not. What was found from before is the same from here, as far as
  // it is ahead.
  size_t end_of(std::string_view end, size_t begin) const {
    if (begin >= text_.size() || is_any(text_[begin], rst_blanks)) return text_.npos;
    auto known = std::ranges::find(ends_, end, &KnownEnd::end);
    if (known == ends_.end()) known = ends_.insert(known, {end, text_.size(), 0});
    if (known->from <= begin && begin < known->at) return known->at;
    known->from = begin;
    return known->at = find_end(end, begin);
  }

  size_t find_end(std::string_view end, size_t begin) const {
    for (size_t at = text_.find(end, begin + 1); at != text_.npos; at = text_.find(end, at + 1)) {
      const size_t after = at + end.size();
      const bool escaped = text_[at - 1] == '\\' && end != "``";
      if (!escaped && !is_any(text_[at - 1], rst_blanks) &&
          (may_end_before(text_.substr(after)) || text_[after] == '_'))
        return at;
    }
    return text_.npos;
  }

  RstMarkup markup_here() const {
    if (rest().starts_with("``")) return between("``", RstMarkup::Kind::fixed);
    if (rest().starts_with("**")) return between("**", RstMarkup::Kind::span);
    if (rest().starts_with('*')) return between("*", RstMarkup::Kind::span);
    if (rest().starts_with("_`")) return target();
    if (rest().starts_with('`')) return interpreted(0);
    if (rest().starts_with(':')) return role();
    if (rest().starts_with('|')) return substitution();
    if (rest().starts_with('[')) return citation();
    return reference();
  }

  RstMarkup between(std::string_view sign, RstMarkup::Kind kind) const {
    const size_t begin = at_ + sign.size(), end = end_of(sign, begin);
    if (end == text_.npos || (end + sign.size() < text_.size() && text_[end + sign.size()] == '_')) return {};
    return {.size = end + sign.size() - at_, .kind = kind, .inner = {sign.size(), end - at_}};
  }

  RstMarkup target() const {
    const size_t end = end_of("`", at_ + 2);
    if (end == text_.npos) return {};
    return {.size = end + 1 - at_, .kind = RstMarkup::Kind::span, .inner = {2, end - at_}};
  }

  // `text`, `text`_ and `text <target>`_, after a role of `role` bytes.
  RstMarkup interpreted(size_t role) const {
    const size_t begin = at_ + role + 1, end = end_of("`", begin);
    if (end == text_.npos) return {};
    size_t after = end + 1;
    while (after < text_.size() && text_[after] == '_' && after < end + 3) ++after;
    if (role == 0 && after == end + 1) after += role_size(after);
    if (!may_end_before(text_.substr(after))) return {};  // before what takes time with the length
    RstMarkup markup = {.size = after - at_, .inner = {begin - at_, end - at_}};
    const std::string_view inner = text_.substr(begin, end - begin);
    const size_t angle = inner.rfind('<');
    const bool has_target =
        inner.ends_with('>') && angle != inner.npos && angle > 0 && is_any(inner[angle - 1], rst_blanks);
    if (has_target) {
      const size_t title = inner.find_last_not_of(rst_blanks, angle - 1);
      if (title == inner.npos) return markup;
      markup.kind = RstMarkup::Kind::span;
      markup.inner.end = markup.inner.begin + title + 1;
    } else if (text_.substr(end + 1, after - end - 1) == "__") {
      // Without names the first reference has the first target, and so on: none may be missing.
      markup.kind = RstMarkup::Kind::span;
      markup.written = std::string(inner) + after_default + "`__";
    } else if (text_.substr(end + 1, after - end - 1) == "_") {
      // The text is the name of the target.
      markup.kind = RstMarkup::Kind::span;
      markup.written = " <" + std::string(inner) + "_>`_";
      std::ranges::replace(markup.written, '\n', ' ');
    }
    return markup;
  }

  // Of ":name:"; 0: there is none.
  size_t role_size(size_t begin) const {
    size_t end = begin + 1;
    while (end < begin + 60 && end < text_.size() &&
           (is_alphanumeric(text_[end]) || is_any(text_[end], "-_.+:")))
      ++end;
    while (end > begin && (end > text_.size() || text_[end - 1] != ':')) --end;
    return begin < text_.size() && text_[begin] == ':' && end > begin + 2 ? end - begin : 0;
  }

  RstMarkup role() const {
    const size_t size = role_size(at_);
    return size > 0 && text_.substr(at_ + size).starts_with('`') ? interpreted(size) : RstMarkup();
  }

  RstMarkup substitution() const {
    const size_t end = end_of("|", at_ + 1);
    if (end == text_.npos) return {};
    size_t after = end + 1;
    while (after < text_.size() && text_[after] == '_' && after < end + 3) ++after;
    return {.size = after - at_, .inner = {1, end - at_}};
  }

  // [1]_, [#note]_, [Name2020]_
  RstMarkup citation() const {
    const std::string_view label = text_.substr(at_, 60);
    const size_t end = label.find("]_");
    if (end == label.npos || label.substr(0, end).find_first_of(rst_blanks) != label.npos) return {};
    return {.size = end + 2, .kind = RstMarkup::Kind::point};
  }

  // name_
  RstMarkup reference() const {
    if (!is_alphanumeric(text_[at_]) ||
        (at_ > 0 &&
         (is_alphanumeric(text_[at_ - 1]) || is_any(text_[at_ - 1], "_-.+:") || is_wide(text_[at_ - 1]))))
      return {};
    size_t end = at_;
    while (end < text_.size() && (is_alphanumeric(text_[end]) || is_any(text_[end], "-_.+:"))) ++end;
    while (end > at_ && is_any(text_[end - 1], "-.+:")) --end;
    const bool ends = may_end_before(text_.substr(end));
    if (!ends || text_[end - 1] != '_') return {};
    return {.size = end - at_, .inner = {0, end - at_}};
  }

  SegmentBuilder& builder_;
  std::string_view text_;
  // Where the next end of markup after a place is; npos: there is none.
  struct KnownEnd {
    std::string_view end;
    size_t from, at;
  };
  mutable std::vector<KnownEnd> ends_ = {};
  size_t markup_end_ = 0;      // of the last one, after which another may begin
  size_t at_ = 0, plain_ = 0;  // text from plain_ on has not been passed yet
};

// "A. ", "(1) ", "#. "
bool begins_enumerated(std::string_view text) {
  size_t at = text.starts_with('(') ? 1 : 0;
  const size_t begin = at;
  while (at < text.size() && at < begin + 6 && (is_alphanumeric(text[at]) || text[at] == '#')) ++at;
  return at > begin && at < text.size() && is_any(text[at], ".)") &&
         (at + 1 == text.size() || text[at + 1] == ' ');
}

// Whether the text ends in a word that docutils takes for the scheme of an address, and stops looking for others.
bool ends_with_scheme(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && (is_alphanumeric(text[begin - 1]) || is_any(text[begin - 1], ".+-"))) --begin;
  if (begin > 0 && text[begin - 1] == '/') return false;  // a port follows
  return begin < text.size() && is_letter(text[begin]) && text.substr(begin) != "mailto";
}

}  // namespace

void add_rst_inlines(SegmentBuilder& builder, std::string_view text) { RstInlines(builder, text).read(); }

std::string escape_rst(std::string_view text) {
  std::string result;
  const bool is_line =
      std::ranges::none_of(text, [](char c) { return is_alphanumeric(c) || is_wide(c); });  // of signs
  if (!text.empty() && (is_line || is_any(text[0], "-+.:>=~#^") || begins_enumerated(text)))
    if (!is_any(text[0], "*`|\\<")) result += '\\';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_word = i + 1 == text.size() || !is_alphanumeric(text[i + 1]);
    const bool colon =
        c == ':' && i > 0 && (text[i - 1] == ':' || (!ends_word && ends_with_scheme(text.substr(0, i))));
    if (is_any(c, "*`|\\<") || (c == '_' && ends_word) || colon) result += '\\';
    result += c;
  }
  return result;
}

std::string escape_rst_term(std::string_view text) {
  std::string result = escape_rst(text);
  for (size_t at = result.find(" : "); at != result.npos; at = result.find(" : ", at))
    result.insert(at + 1, "\\");
  return result;
}

std::string with_rst_borders(std::string_view file) {
  std::string result;
  size_t markup_end = std::string::npos;  // of the last one in the result, after which another may begin
  while (!file.empty()) {
    const size_t size = std::min(file.find_first_of("\xFD\xFC\xFB\xFA"), file.size());
    result += file.substr(0, size);
    if (size == file.size()) break;
    const char border = file[size];
    file.remove_prefix(size + 1);
    const size_t next = std::min(file.find_first_not_of("\xFD\xFC\xFB\xFA"), file.size());
    if (border == before_markup) {
      const size_t markup = file.find(after_markup), open = file.substr(0, markup).find(after_open);
      const size_t close = open != file.npos ? file.find_first_not_of(rst_blanks, open + 1) : file.npos;
      if (close != file.npos && file[close] == before_close) {  // nothing is left between the tags
        const std::string_view opening = file.substr(0, open);
        std::string tag(stripped(file.substr(close + 1, markup - close - 1), rst_blanks));
        const bool stays = tag.starts_with('<') || std::erase(tag, after_default) > 0;
        file.remove_prefix(markup + 1);
        if (!stays) continue;
        result.append(may_begin_after(result) ? "" : "\\ ").append(opening).append(tag);
        if (!may_end_before(file.substr(std::min(file.find_first_not_of("\xFD\xFC\xFB\xFA"), file.size()))))
          result += ' ';
      } else if (result.size() != markup_end && !may_begin_after(result)) {
        result += "\\ ";
      }
    } else if (border == before_close) {
      const size_t words = file.substr(0, file.find(after_markup)).find(after_default);
      file.remove_prefix(words == file.npos ? 0 : words + 1);
    } else if (border == after_markup) {
      if (!may_end_before(file.substr(next))) result += "\\ ";
      markup_end = result.size();
    }
  }
  return result;
}

}  // namespace dragoman::internal
