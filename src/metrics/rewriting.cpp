#include "metrics/rewriting.h"

namespace dragoman::internal {
namespace {

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_no_digit(char32_t c) { return !is_digit(c); }
bool is_dash(char32_t c) { return c == '-'; }
bool is_point(char32_t c) { return c == '.' || c == ','; }

// What mteval-v13a always separates: ASCII punctuation and symbols except ' , - and .
bool is_13a_mark(char32_t c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

}  // namespace

void replace_all(std::u32string& text, std::u32string_view what, std::u32string_view with) {
  std::u32string out;
  size_t done = 0;
  for (size_t at; (at = text.find(what, done)) != text.npos; done = at + what.size())
    (out.append(text, done, at - done)).append(with);
  if (done > 0) text = out.append(text, done);
}

std::u32string set_apart(const std::u32string& text, CharacterClass mark) {
  std::u32string out;
  for (const char32_t c : text) {
    if (mark(c)) {
      out += {U' ', c, U' '};
    } else {
      out += c;
    }
  }
  return out;
}

std::u32string set_pairs_apart(const std::u32string& text, CharacterClass first, CharacterClass second,
                               PairMark mark) {
  std::u32string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (mark == PairMark::first) {
      out += {U' ', text[i], U' ', text[i + 1]};
    } else {
      out += {text[i], U' ', text[i + 1], U' '};
    }
    ++i;
  }
  return out;
}

void decode_entities(std::u32string& text) {
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
}

std::u32string separate_marks(const std::u32string& text) { return set_apart(text, is_13a_mark); }

std::u32string separate_points(std::u32string text) {
  text = set_pairs_apart(text, is_no_digit, is_point, PairMark::second);
  text = set_pairs_apart(text, is_point, is_no_digit, PairMark::first);
  return set_pairs_apart(text, is_digit, is_dash, PairMark::second);
}

}  // namespace dragoman::internal
