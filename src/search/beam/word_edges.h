// Where words begin and end between the tokens of an output: a term must not become part of another word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/vocabulary.h"

namespace dragoman::internal {

// Immutable once it is constructed: all searches share it.
class WordEdges {
 public:
  explicit WordEdges(const Vocabulary& vocabulary);

  // Whether the word that `left` ends would go on with `right`. `left` −1: nothing is before it.
  bool joins(int32_t left, int32_t right) const;
  // The same, if `right` is letters: bytes may be a character of any kind.
  bool joins_letters(int32_t left, int32_t right) const;
  // Whether a term may begin with `right` after `left`. It may follow a space, and where words do not join; a space may
  // not come into a text that is written without.
  bool may_begin(int32_t left, int32_t right) const;
  // Whether the tokens end inside a character that byte fallback spells.
  bool end_inside_character(std::span<const int32_t> tokens) const;

 private:
  enum class Kind : uint8_t {
    end,       // the end mark
    nothing,   // another token without text: what is before it may go on behind it
    space,     // white space, or the mark of a word's beginning
    letter,    // or a digit, of a script with spaces between words
    hangul,    // the same, but particles follow a word without a space
    unspaced,  // a letter of a script without spaces
    mark,      // belongs to the character before it
    byte,      // of byte fallback: part of a character
    closing,   // punctuation that a space follows
    other,     // other punctuation and symbols
  };
  struct Edge {
    Kind first, last;
    Kind begins;       // of the character after the mark of a word's beginning
    char byte = '\0';  // that it stands for
  };

  static Kind kind_of(char32_t c);
  Edge edge_of(const Vocabulary& vocabulary, int32_t id) const;

  std::vector<Edge> edges_;
};

}  // namespace dragoman::internal
