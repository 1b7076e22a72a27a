// ParallelText: files whose n-th sentences correspond.
//
// Lines of tags, which all files must have at the same places, are skipped. Throws an Error with file and line where
// the files stop corresponding: at a line of tags beside a sentence, at segments with different ids, or at the end of
// the shorter file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentence_reader.h"

namespace dragoman::internal {

class ParallelText {
 public:
  // At least one file.
  ParallelText(const std::vector<std::string>& files, TextFormat format);

  size_t files() const { return readers_.size(); }

  // Whether all files had another sentence. There is a text for each; they are valid until the next call.
  bool next(std::span<std::string_view> texts);

  const LineReader& lines(size_t file) const { return readers_[file].lines(); }
  uint64_t bytes_read() const;

 private:
  bool next_sentences();
  void check_corresponds(size_t file) const;
  [[noreturn]] void refuse_lengths(size_t file);

  std::vector<SentenceReader> readers_;
  std::vector<FileSentence> sentences_;
};

}  // namespace dragoman::internal
