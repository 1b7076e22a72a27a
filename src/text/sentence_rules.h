// Which boundaries of Unicode's rules do not end a sentence: those after abbreviations, initials and ordinals. The
// words are those of share/sentences.toml.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace dragoman::internal {

// "fr" for "fra_Latn" and "fr-CA"; nothing where ICU knows no such language.
std::string two_letters(std::string_view language);

// Whether ISO 639 knows the language of this code: "en", "pt-BR", "fra_Latn".
bool is_language(std::string_view code);

class SentenceRules {
 public:
  // By the language's code: "en", "pt-BR", "fra_Latn". Of a language without rules, those that hold for several.
  static const SentenceRules& of(std::string_view language);

  // Whether these parts of a text, with white space between them, belong to one sentence.
  bool join(std::string_view left, std::string_view right) const;

  // Whether it is one of the words, in lower case, that often begin sentences: articles, pronouns, prepositions, ...
  bool is_frequent(const std::string& word) const { return starters_.contains(word); }

 private:
  friend struct AllSentenceRules;
  using Words = std::unordered_set<std::string>;

  bool joined_by_abbreviation(std::string_view word, std::string_view right) const;

  Words never_, number_, perhaps_, starters_;
  bool ordinals_ = false;
};

// The languages that have rules of their own.
std::vector<std::string> languages_with_sentence_rules();

}  // namespace dragoman::internal
