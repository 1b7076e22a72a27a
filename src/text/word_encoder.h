// WordEncoder: Vocabulary::encode for large amounts of text. It caches the pieces of frequent words, which is several
// times faster and gives the same ids.
//
// It caches only if no piece spans a space and each word is segmented independently: BPE and characters, as learned
// here. For other vocabularies, which it recognises, it encodes each sentence. For one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace dragoman::internal {

class WordEncoder {
 public:
  explicit WordEncoder(const Vocabulary& vocabulary);  // must outlive it

  std::vector<int32_t> encode(std::string_view text);

 private:
  void add_word(std::string_view word, std::vector<int32_t>& ids);

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const Vocabulary& vocabulary_;
  bool by_words_;
  std::unordered_map<std::string, std::vector<int32_t>, Hash, std::equal_to<>> known_;
};

}  // namespace dragoman::internal
