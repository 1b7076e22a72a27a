// Noise: what people do to a sentence without changing its meaning. They write it in capitals, misspell it, leave out
// the full stop, or mark it up. A model that was trained on some of it translates such sentences almost as well as
// clean ones.
//
// Words that are markup, placeholders or addresses (see tags.h) stay as they are. No function moves a word, or adds or
// removes one, apart from a final punctuation mark that stands by itself, and tags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace dragoman::internal {

// `language`: a code such as "tr", whose rules apply (i becomes İ); empty: those that most languages share.
std::string upper_cased(std::string_view text, const std::string& language = "");
std::string title_cased(std::string_view text, const std::string& language = "");

// With a spelling mistake in about every sixth word of four letters or more, and at least one where there is such a
// word: two letters swapped, one dropped, doubled, or replaced by its neighbour on the language's keyboard.
std::string misspelt(std::string_view text, Random& random, const std::string& language = "");

// Without the last character and the white space before it, if it is a full stop, an exclamation mark or the like.
std::string without_final_punctuation(std::string_view text);

// The shares of all pairs that are changed.
struct NoiseShares {
  double upper = 0, title = 0;  // a pair gets one of these at most
  double typos = 0, punctuation = 0, tags = 0;

  bool any() const { return upper > 0 || title > 0 || typos > 0 || punctuation > 0 || tags > 0; }
};

// Changes a pair, or leaves it as it is, and says which: always the same for one number of a pair. Case, punctuation
// and tags change on both sides, and spelling only in the source, so that the model still learns to write correctly.
bool add_noise(const NoiseShares& shares, uint64_t pair, const std::string& from, const std::string& to,
               std::string& source, std::string& target);

}  // namespace dragoman::internal
