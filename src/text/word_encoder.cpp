#include "text/word_encoder.h"

#include <algorithm>
#include <cmath>

namespace dragoman::internal {
namespace {

constexpr size_t max_words = 1 << 15, max_word_bytes = 64;  // a few megabytes
constexpr std::string_view word_begin_mark = "▁";

// A unigram model's scores are logarithms, whose sums over a sentence round differently from those over a word. And a
// model from elsewhere may span spaces, keep repeated ones, or treat the first word differently.
bool segments_word_by_word(const Vocabulary& vocabulary) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.is_special(id)) continue;
    const bool spans_space = vocabulary.piece(id).find(word_begin_mark, 1) != std::string::npos;
    if (spans_space || vocabulary.score(id) != std::floor(vocabulary.score(id))) return false;
  }
  const std::vector<int32_t> one = vocabulary.encode("a"), two = vocabulary.encode("a  a");
  return two.size() == 2 * one.size() && std::equal(one.begin(), one.end(), two.begin()) &&
         std::equal(one.begin(), one.end(), two.begin() + static_cast<int64_t>(one.size()));
}

}  // namespace

WordEncoder::WordEncoder(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), by_words_(segments_word_by_word(vocabulary)) {}

void WordEncoder::add_word(std::string_view word, std::vector<int32_t>& ids) {
  auto found = known_.find(word);
  if (found == known_.end()) {
    std::vector<int32_t> pieces = vocabulary_.encode(word);
    if (known_.size() == max_words || word.size() > max_word_bytes) {
      ids.insert(ids.end(), pieces.begin(), pieces.end());
      return;
    }
    found = known_.emplace(word, std::move(pieces)).first;
  }
  ids.insert(ids.end(), found->second.begin(), found->second.end());
}

std::vector<int32_t> WordEncoder::encode(std::string_view text) {
  if (!by_words_) return vocabulary_.encode(text);
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) add_word(text.substr(begin, end - begin), ids);
    begin = end + 1;
  }
  return ids;
}

}  // namespace dragoman::internal
