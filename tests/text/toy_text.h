// Sentences of a small synthetic language, with their translations into another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "text/special_ids.h"

namespace dragoman::internal {

// Sentences of 1 to `longest` words, and their translations.
struct ToyText {
  std::string source, target;  // files' contents
  std::vector<std::string> source_lines, target_lines;
};
inline ToyText toy_text(int64_t pairs, int64_t longest = 12, uint64_t seed = 1) {
  const char* syllables[] = {"ka", "lo", "mi", "ter", "sun", "é", "var", "do"};
  Random random(seed);
  ToyText text;
  for (int64_t i = 0; i < pairs; ++i) {
    std::string source, target;
    const uint64_t words = 1 + random.below(static_cast<uint64_t>(longest));
    for (uint64_t word = 0; word < words; ++word) {
      const uint64_t first = random.below(8), second = random.below(8);
      source += fmt::format("{}{}{}", word > 0 ? " " : "", syllables[first], syllables[second]);
      target += fmt::format("{}{}o{}", word > 0 ? " " : "", syllables[second], syllables[first]);
    }
    text.source += source + "\n";
    text.target += target + "\n";
    text.source_lines.push_back(source);
    text.target_lines.push_back(target);
  }
  return text;
}

}  // namespace dragoman::internal
