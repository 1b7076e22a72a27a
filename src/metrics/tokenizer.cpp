#include "metrics/tokenizer.h"

#include <string_view>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using Predicate = bool (*)(char32_t c);

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_no_digit(char32_t c) { return !is_digit(c); }
bool is_no_number(char32_t c) { return !is_number(c); }
bool is_dash(char32_t c) { return c == '-'; }
bool is_point(char32_t c) { return c == '.' || c == ','; }

// What mteval-v13a always separates: ASCII punctuation and symbols except ' , - and .
bool is_13a_mark(char32_t c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

void replace_all(std::u32string& text, std::u32string_view what, std::u32string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size())
    text.replace(at, what.size(), with);
}

// Puts a space on both sides of each matching character.
std::u32string set_apart(const std::u32string& text, Predicate mark) {
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

// Finds pairs of matching neighbours, left to right without overlap like a regular expression, and puts a space on both
// sides of the one that is the mark.
enum class Mark { first, second };
std::u32string set_pairs_apart(const std::u32string& text, Predicate first, Predicate second, Mark mark) {
  std::u32string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (mark == Mark::first) {
      out += {U' ', text[i], U' ', text[i + 1]};
    } else {
      out += {text[i], U' ', text[i + 1], U' '};
    }
    ++i;
  }
  return out;
}

std::u32string tokenize_13a(std::u32string text) {
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  text = set_apart(U" " + text + U" ", is_13a_mark);
  text = set_pairs_apart(text, is_no_digit, is_point, Mark::second);
  text = set_pairs_apart(text, is_point, is_no_digit, Mark::first);
  return set_pairs_apart(text, is_digit, is_dash, Mark::second);
}

std::u32string tokenize_international(const std::u32string& text) {
  const std::u32string after = set_pairs_apart(text, is_no_number, is_punctuation, Mark::second);
  return set_apart(set_pairs_apart(after, is_punctuation, is_no_number, Mark::first), is_symbol);
}

}  // namespace

std::string name_of(Tokenizer tokenizer) {
  switch (tokenizer) {
    case Tokenizer::thirteen_a:
      return "13a";
    case Tokenizer::international:
      return "intl";
    case Tokenizer::characters:
      return "char";
    case Tokenizer::none:
      return "none";
  }
  CHECK(false, "tokenizer {}", static_cast<int>(tokenizer));
}

std::u32string tokenize(Tokenizer tokenizer, std::u32string text) {
  switch (tokenizer) {
    case Tokenizer::thirteen_a:
      return tokenize_13a(std::move(text));
    case Tokenizer::international:
      return tokenize_international(text);
    case Tokenizer::characters:
      return set_apart(text, [](char32_t) { return true; });
    case Tokenizer::none:
      return text;
  }
  CHECK(false, "tokenizer {}", static_cast<int>(tokenizer));
}

}  // namespace dragoman::internal
