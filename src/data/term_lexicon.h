// The terms of data.terms, found in the pairs of a corpus: a model learns to use translations that it is given.
//
// A file of source, tab, target; further columns, empty lines and lines that begin with # are ignored. A target may
// have alternatives: "dog<TAB>chien | chienne". Case does not count.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/term_marks.h"

namespace dragoman::internal {

struct TermTarget {
  std::string text;
  std::vector<std::string> words;  // in lower case
};

class TermLexicon {
 public:
  // Throws an Error that names the line without a tab or without a word.
  explicit TermLexicon(const std::string& path);

  // The terms of a source whose target the translation has, word by word, in this form or another one of the same stem.
  // From the beginning to the end, the longest where several begin.
  std::vector<TermInText> terms_of(std::string_view source, std::string_view target) const;

  size_t size() const { return targets_.size(); }

 private:
  std::unordered_map<std::string, std::vector<TermTarget>>
      targets_;         // by the source's words, with single spaces
  size_t longest_ = 0;  // of a source, in words
};

// What is given to the model with one pair: with this share of all pairs some of the terms.
std::vector<TermInText> chosen_terms(const TermLexicon& lexicon, double share, uint64_t pair,
                                     std::string_view source, std::string_view target);

}  // namespace dragoman::internal
