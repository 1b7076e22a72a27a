// The languages of a multilingual model. Each has a token of its own: a source has that of its language, and an output
// is forced to begin with that of the target language; or the source has that of the target language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::internal {

struct Languages {
  std::vector<std::pair<std::string, int32_t>> tokens;  // of each language: "fra_Latn", and its token

  // Where a source has its token. The end mark is </s>. target_first: a source begins with the token of the language
  // that it shall be translated into, and outputs have none.
  enum class TokenPosition { first, before_end, after_end, target_first } position = TokenPosition::first;
  // The decoder reads the token instead of the start token, and not after it.
  bool replaces_start = false;

  std::vector<std::string> names() const;

  bool operator==(const Languages&) const = default;
};

// What the encoder reads around a text.
struct SourceFrame {
  std::vector<int32_t> before, after;

  size_t size() const { return before.size() + after.size(); }
  void add_to(std::vector<int32_t>& text) const;
};

// What the decoder reads before an output: the start token, and then the tokens that every output is forced to begin
// with, which are not part of its text. For a score they count as tokens of probability 1.
class StartTokens {
 public:
  StartTokens(int32_t start) : tokens_{start} {}
  StartTokens(std::vector<int32_t> tokens);  // at least one

  const std::vector<int32_t>& all() const { return tokens_; }
  size_t size() const { return tokens_.size(); }
  int32_t operator[](size_t i) const { return tokens_[i]; }
  size_t forced_length() const { return tokens_.size() - 1; }

 private:
  std::vector<int32_t> tokens_;
};

}  // namespace dragoman::internal
