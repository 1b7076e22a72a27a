// ParallelText: two files whose n-th sentences correspond.
//
// Lines of tags, which both files must have at the same places, are skipped. Throws an Error with file and line where
// the files stop corresponding: at a line of tags beside a sentence, at segments with different ids, or at the end of
// the shorter file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/sentence_reader.h"

namespace dragoman::internal {

class ParallelText {
 public:
  ParallelText(const std::string& first, const std::string& second, TextFormat format);

  // Whether there was another pair, which is valid until the next call.
  bool next(std::string_view& first, std::string_view& second);

  const LineReader& first_lines() const { return first_.lines(); }
  const LineReader& second_lines() const { return second_.lines(); }
  uint64_t bytes_read() const { return first_lines().bytes_read() + second_lines().bytes_read(); }

 private:
  void check_correspond(const FileSentence& one, const FileSentence& other) const;
  [[noreturn]] void refuse_lengths();

  SentenceReader first_, second_;
};

}  // namespace dragoman::internal
