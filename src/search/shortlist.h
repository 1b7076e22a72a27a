// Shortlist: the words that the translation of a sentence may consist of, where not all need be looked at.
//
// They are the pieces that a lexicon (data/lexicon.h) has for the pieces of the sentence, and those that are frequent:
// some hundreds, so that the generator's product, the largest of a step, costs little. A sentence's own words depend
// on nothing else. A model's folder has its shortlist in shortlist.safetensors:
//
//   always    the words that are allowed to every sentence
//   begins    where each source piece's words begin in `words`; then their number
//   words     target pieces
//   metadata  "vocabularies": a checksum of the two that the ids are of
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/lexicon.h"
#include "text/vocabulary.h"

namespace dragoman {

class Shortlist {
 public:
  // Of a model's folder. An Error where there is none, or where it belongs to other vocabularies.
  static Shortlist read(const std::string& folder, const Vocabularies& vocabularies);

  // The pieces of a user's own words, a line each, are allowed to every sentence, too.
  void allow_words_of(const std::string& path, const Vocabulary& target);

  // The words for a source, and `further` ones: ascending, each once. The end mark is among them.
  std::vector<int32_t> words_for(std::span<const int32_t> source, std::span<const int32_t> further) const;

 private:
  std::vector<int32_t> always_, begins_, words_;
  int32_t end_ = -1;  // the target's end mark
};

void write_shortlist(const std::string& folder, const Lexicon& lexicon, const Vocabularies& vocabularies);

}  // namespace dragoman
