#include "data/parallel_text.h"

#include "base/error.h"

namespace dragoman::internal {

ParallelText::ParallelText(const std::string& first, const std::string& second, TextFormat format)
    : first_(first, format), second_(second, format) {}

bool ParallelText::next(std::string_view& first, std::string_view& second) {
  FileSentence one, other;
  do {
    const bool more = first_.next(one);
    if (second_.next(other) != more) refuse_lengths();
    if (!more) return false;
    check_correspond(one, other);
  } while (one.is_tag);
  first = one.text;
  second = other.text;
  return true;
}

void ParallelText::check_correspond(const FileSentence& one, const FileSentence& other) const {
  if (one.is_tag != other.is_tag) {
    const SentenceReader &tags = one.is_tag ? first_ : second_, &text = one.is_tag ? second_ : first_;
    throw Error("{} is a line of tags, but {} is a sentence: the files must correspond line by line",
                tags.place(), text.place());
  }
  if (!one.id.empty() && !other.id.empty() && one.id != other.id) {
    throw Error("{} has segment {}, but {} has segment {}: one of the files lacks a segment", first_.place(),
                one.id, second_.place(), other.id);
  }
}

// Counts both files to their ends: one line number alone would not tell where they diverge.
void ParallelText::refuse_lengths() {
  const auto count_all = [](SentenceReader& reader) {
    for (FileSentence ignored; reader.next(ignored);) {}
    return reader.count();
  };
  const bool segments = first_.format() == TextFormat::sgm || second_.format() == TextFormat::sgm;
  const int64_t first = count_all(first_), second = count_all(second_);
  throw Error("{} has {} {}s, but {} has {}: they must correspond {} by {}", first_lines().path(), first,
              segments ? "sentence" : "line", second_lines().path(), second, segments ? "sentence" : "line",
              segments ? "sentence" : "line");
}

}  // namespace dragoman::internal
