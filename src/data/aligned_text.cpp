#include "data/aligned_text.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/word_tokenizer.h"

namespace dragoman::internal {

int32_t TextSide::id_of(const std::string& word) {
  const auto [found, is_new] = ids_.try_emplace(word, static_cast<int32_t>(ids_.size()));
  if (is_new) {
    std::string lower = to_utf8(lower_case(code_points(word)));
    const auto id = static_cast<int32_t>(lower_ids_.size());
    lower_.push_back(lower_ids_.try_emplace(std::move(lower), id).first->second);
    spelling_.push_back(&found->first);
  }
  return found->second;
}

void TextSide::add(std::string_view line, WordsOfLine how) {
  if (how == WordsOfLine::tokenized) {
    for (const TextSpan span : tokenize_words(line))
      words_.push_back(id_of(std::string(line.substr(span.begin, span.end - span.begin))));
  } else {
    constexpr std::string_view space = " \t\r\v\f";
    for (size_t begin = line.find_first_not_of(space); begin != line.npos;) {
      const size_t end = std::min(line.find_first_of(space, begin), line.size());
      words_.push_back(id_of(std::string(line.substr(begin, end - begin))));
      begin = line.find_first_not_of(space, end);
    }
  }
  begins_.push_back(words_.size());
}

std::vector<std::string> TextSide::words(size_t line) const {
  std::vector<std::string> words;
  for (size_t i = begins_[line]; i < begins_[line + 1]; ++i)
    words.push_back(*spelling_[static_cast<size_t>(words_[i])]);
  return words;
}

void TextSide::read(size_t line, std::vector<int32_t>& ids) const {
  ids.clear();
  for (size_t i = begins_[line]; i < begins_[line + 1]; ++i)
    ids.push_back(lower_[static_cast<size_t>(words_[i])]);
}

void AlignedText::add(std::string_view source_line, std::string_view target_line, WordsOfLine how) {
  source.add(source_line, how);
  target.add(target_line, how);
}

PairsToAlign AlignedText::pairs() const {
  return {.count = source.size(),
          .read =
              [this](size_t pair, std::vector<int32_t>& source_ids, std::vector<int32_t>& target_ids) {
                source.read(pair, source_ids);
                target.read(pair, target_ids);
              },
          .source_words = source.distinct(),
          .target_words = target.distinct()};
}

bool AlignedText::is_too_long(size_t line) const {
  return std::max(source.length(line), target.length(line)) > max_aligned_length;
}

}  // namespace dragoman::internal
