// Two texts that correspond line by line, and the links of their words: what `dragoman align` prints.
//
// The aligner learns from words in lower case. All lines are held in memory, as four bytes a word, and each distinct
// word once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/align/aligner.h"

namespace dragoman::internal {

// How a line is cut into words: by the simple tokenizer (text/word_tokenizer.h), or at white space.
enum class WordsOfLine { tokenized, as_they_are };

// The lines of one side.
class TextSide {
 public:
  void add(std::string_view line, WordsOfLine how);

  size_t size() const { return begins_.size() - 1; }
  size_t length(size_t line) const { return begins_[line + 1] - begins_[line]; }
  std::vector<std::string> words(size_t line) const;
  void read(size_t line, std::vector<int32_t>& ids) const;  // of the words in lower case
  int32_t distinct() const { return static_cast<int32_t>(lower_ids_.size()); }

 private:
  int32_t id_of(const std::string& word);

  std::unordered_map<std::string, int32_t> ids_;        // of words as they are written
  std::vector<const std::string*> spelling_;            // by id
  std::unordered_map<std::string, int32_t> lower_ids_;  // of words in lower case
  std::vector<int32_t> lower_;                          // by id, the id in lower case
  std::vector<int32_t> words_;                          // of all lines, end to end
  std::vector<size_t> begins_ = {0};
};

struct AlignedText {
  TextSide source, target;

  void add(std::string_view source_line, std::string_view target_line, WordsOfLine how);
  // Refers to this object, which must outlive the result.
  PairsToAlign pairs() const;
  bool is_too_long(size_t line) const;
};

}  // namespace dragoman::internal
