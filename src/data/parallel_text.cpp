#include "data/parallel_text.h"

#include "base/error.h"

namespace dragoman::internal {

ParallelText::ParallelText(const std::vector<std::string>& files, TextFormat format) {
  CHECK(!files.empty());
  for (const std::string& file : files) readers_.emplace_back(file, format);
  sentences_.resize(files.size());
}

bool ParallelText::next(std::span<std::string_view> texts) {
  CHECK(texts.size() == files(), "{} texts for {} files", texts.size(), files());
  do {
    if (!next_sentences()) return false;
  } while (sentences_[0].is_tag);
  for (size_t file = 0; file < files(); ++file) texts[file] = sentences_[file].text;
  return true;
}

// Including lines of tags.
bool ParallelText::next_sentences() {
  const bool more = readers_[0].next(sentences_[0]);
  for (size_t file = 1; file < files(); ++file) {
    if (readers_[file].next(sentences_[file]) != more) refuse_lengths(file);
    if (more) check_corresponds(file);
  }
  return more;
}

// To the first file.
void ParallelText::check_corresponds(size_t file) const {
  const SentenceReader &first = readers_[0], &second = readers_[file];
  const FileSentence &one = sentences_[0], &other = sentences_[file];
  if (one.is_tag != other.is_tag) {
    const SentenceReader &tags = one.is_tag ? first : second, &text = one.is_tag ? second : first;
    throw Error("{} is a line of tags, but {} is a sentence: the files must correspond line by line",
                tags.place(), text.place());
  }
  if (!one.id.empty() && !other.id.empty() && one.id != other.id) {
    throw Error("{} has segment {}, but {} has segment {}: one of the files lacks a segment", first.place(),
                one.id, second.place(), other.id);
  }
}

// Counts both files to their ends: one line number alone would not tell where they diverge.
void ParallelText::refuse_lengths(size_t file) {
  SentenceReader &one = readers_[0], &other = readers_[file];
  const auto count_all = [](SentenceReader& reader) {
    for (FileSentence ignored; reader.next(ignored);) {}
    return reader.count();
  };
  const bool segments = one.format() == TextFormat::sgm || other.format() == TextFormat::sgm;
  const int64_t first = count_all(one), second = count_all(other);
  throw Error("{} has {} {}s, but {} has {}: they must correspond {} by {}", one.lines().path(), first,
              segments ? "sentence" : "line", other.lines().path(), second, segments ? "sentence" : "line",
              segments ? "sentence" : "line");
}

uint64_t ParallelText::bytes_read() const {
  uint64_t bytes = 0;
  for (const SentenceReader& reader : readers_) bytes += reader.lines().bytes_read();
  return bytes;
}

}  // namespace dragoman::internal
