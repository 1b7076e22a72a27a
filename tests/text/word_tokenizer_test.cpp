#include "text/word_tokenizer.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

// With a bar between them.
std::string words_of(std::string_view text) {
  std::string words;
  for (const auto& [begin, end] : tokenize_words(text)) {
    if (!words.empty()) words += '|';
    words += text.substr(begin, end - begin);
  }
  return words;
}

std::string joined(std::string_view text) {
  std::string result;
  WordSpacing spacing;
  for (const auto& [begin, end] : tokenize_words(text)) {
    const std::string_view word = text.substr(begin, end - begin);
    if (spacing.space_before(word)) result += ' ';
    result += word;
  }
  return result;
}

TEST(WordTokenizer, SeparatesWordsNumbersAndMarks) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"  a\tb\u00a0c\u3000", "a|b|c"},
      {"Hello, world!", "Hello|,|world|!"},
      {"It's 3.5% of 1,000; no?", "It's|3.5|%|of|1,000|;|no|?"},
      {"L'homme d’État n'est pas là.", "L'homme|d’État|n'est|pas|là|."},
      {"(\"So\", she said)", "(|\"|So|\"|,|she|said|)"},
      {"„Das ist z.B. gut“", "„|Das|ist|z.B|.|gut|“"},
      {"well-known, Vor- und Nachteile", "well-known|,|Vor-|und|Nachteile"},
      {"so -- and - well... -5", "so|--|and|-|well|...|-5"},
      {"-Hello", "-|Hello"},
      {"the U.S. at 12:30, in years' time", "the|U.S|.|at|12:30|,|in|years'|time"},
      {"says 'hello' to AT&T and/or me@ted.com", "says|'|hello|'|to|AT&T|and|/|or|me@ted.com"},
      {"$5 and 5 €", "$|5|and|5|€"},
      {"cafe\u0301 snake_case ½", "cafe\u0301|snake_case|½"},
      {"☃️!", "☃️|!"},
      {"wow!?", "wow|!|?"},
      {"a:b 1:b", "a|:|b|1|:|b"},
  };
  for (const auto& [text, words] : cases) EXPECT_EQ(words_of(text), words);
}

TEST(WordTokenizer, PutsSpacesWhereReadersExpectThem) {
  for (const char* text :
       {"Hello, world! How are you? Fine; thanks: really.", "It's 3.5% of 1,000, and don't ask (or do)!",
        "L'homme d’État n'est pas là.", "She said: \"Yes.\" He said, \"No, 'never'!\"",
        "„Ja“, sagte sie, ‚nein‘. »Gut« und «bien» “so” ‘it’ is.", "well-known Vor- und Nachteile",
        "so -- and - well... it's 5:30", "[1] {a} (b) 5° and/or #1 ¿qué? ¡no!",
        "It costs $5 or 5 € or £3.50.", "http://ted.com/talks", "the U.S., in years' time", "\"Quoted\"",
        "... and then?", "", "a"})
    EXPECT_EQ(joined(text), text);
  EXPECT_EQ(joined("l' homme ,  où ?"), "l 'homme, où?");
  EXPECT_EQ(joined("bonjour\u00a0! «\u00a0oui\u00a0»"), "bonjour! «oui»");
}

// A vocabulary may have the mark that begins a word as a piece by itself.
TEST(WordTokenizer, PutsNoSpaceBeforeNothing) {
  WordSpacing spacing;
  EXPECT_FALSE(spacing.space_before("a"));
  EXPECT_FALSE(spacing.space_before(""));
  EXPECT_TRUE(spacing.space_before("b"));
}

// The encoder divides long texts at spaces.
TEST(WordTokenizer, WordsDependOnWhatIsBetweenSpacesAlone) {
  const std::string before = "\"don't", after = "stop' it- 'no";
  EXPECT_EQ(words_of(before + " " + after), words_of(before) + "|" + words_of(after));
}

TEST(WordTokenizer, TakesAnyBytes) {
  for (const char* text : {"\xff", "a\xc3", "\xed\xa0\x80 b", "'", "-", ".", "\u0301", "’’", "»"}) {
    size_t at = 0;
    for (const auto& [begin, end] : tokenize_words(text)) {
      EXPECT_LE(at, begin);
      EXPECT_LT(begin, end);
      at = end;
    }
    EXPECT_LE(at, std::string_view(text).size());
    WordSpacing().space_before(text);
  }
}

}  // namespace
}  // namespace dragoman::internal
