// The words of a translation and where in the source they come from: which ones belong to a part of the source, and
// where a place of the source lies between them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

// A part of the translation and the part of the source that it comes from, in bytes.
struct TextLink {
  TextSpan source, target;
};

// Words and punctuation marks by Unicode's rules (UAX 29), in bytes; a placeholder is one word. White space is in none.
// Each occurrence of these directives is a word, too, even where letters touch it.
std::vector<TextSpan> words_of(std::string_view text, std::span<const std::string> directives = {});

// A run of words, by number.
struct WordRange {
  size_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  bool operator==(const WordRange&) const = default;
};

class WordLinks {
 public:
  // Without links a word is assumed to come from the same relative place in the source.
  WordLinks(std::string_view source, std::string_view translation, std::span<const TextLink> links,
            std::span<const std::string> directives = {});

  const std::vector<TextSpan>& words() const { return words_; }
  std::string_view translation() const { return translation_; }

  // The run of words within `range` that best matches these bytes of the source: the number of its words from there,
  // minus those from elsewhere. Only of words that are `free`. Empty if no word comes from there.
  WordRange words_from(TextSpan source, WordRange range, const std::function<bool(size_t word)>& free) const;

  // How many words of the range are on the wrong side of each of its boundaries, begin to end, if a place of the
  // source is put there.
  std::vector<double> crossings(size_t place, WordRange range) const;

  // The words of the range that come from beside a place of the source.
  WordRange near(size_t place, WordRange range) const;

 private:
  struct SourceSpan {
    double begin, end;  // in bytes of the source
    double weight;
  };
  struct SpanCentre {
    double place;  // in bytes of the source
    size_t word;
  };
  double share_from(TextSpan source, size_t word) const;  // 0 to 1

  std::string_view translation_;
  std::vector<TextSpan> words_;
  std::vector<std::vector<SourceSpan>> source_spans_;  // of each word
  std::vector<SpanCentre> centres_;                    // of all these spans, by place
  std::vector<double> weights_;                        // of each word: punctuation counts little
};

}  // namespace dragoman::internal
