// Makes a calibration from translations with references.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "confidence/calibration.h"

namespace dragoman::internal {

struct ReferencedText {
  std::string source, text, reference;
  std::vector<ScoredToken> tokens;

  ScoredText scored() const { return {source, text, tokens}; }
};

// For each word of the text whether it is right: it stands in the reference on the cheapest way from one to the other
// by changed, added and left-out words. Case and the punctuation around a word do not count.
struct WordJudgement {
  std::vector<bool> right;
  bool good = false;  // good_edits
};
WordJudgement judge(std::string_view text, std::string_view reference);

// Fitted to all texts; its quality is measured in five parts, each by a calibration that is fitted to the four others.
// Throws an Error if there are too few texts, or if all or none of their words are right. `weights`: see Calibration.
Calibration calibrate(std::span<const ReferencedText> texts, const std::string& weights);

}  // namespace dragoman::internal
