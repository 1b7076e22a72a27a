// Shortlist: the words that the translation of a sentence may consist of, instead of the whole vocabulary.
//
// They are the subwords that a lexicon (data/lexicon.h) has for those of the sentence, and frequent ones: hundreds, so
// that the generator's product, the largest of a step, costs little. They depend only on the sentence. A model
// folder has its shortlist in shortlist.safetensors:
//
//   always    the words that every translation may have
//   begins    where the words of each source subword begin in `words`; then their number
//   words     target subwords
//   metadata  "vocabularies": a checksum of the two vocabularies
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/lexicon.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

class Shortlist {
 public:
  // The shortlist of a model folder. An Error where there is none, or where it is damaged or of other
  // vocabularies.
  static Shortlist read(const std::string& folder, const Vocabularies& vocabularies);

  // Allows the subwords of a user's own words, one a line, in every translation.
  void allow_words_of(const std::string& path, const Vocabulary& target);

  // The words for a source and `further` ones, ascending and without duplicates, and the end mark.
  std::vector<int32_t> words_for(std::span<const int32_t> source, std::span<const int32_t> further) const;

 private:
  std::vector<uint64_t> always_;  // a bit for each word of the vocabulary
  std::vector<int32_t> begins_, words_;
};

void write_shortlist(const std::string& folder, const Lexicon& lexicon, const Vocabularies& vocabularies);

}  // namespace dragoman::internal
