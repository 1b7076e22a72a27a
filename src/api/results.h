// The engine's results as the public types.
#pragma once

#include <vector>

#include "confidence/calibration.h"
#include "dragoman/translator.h"
#include "search/translation.h"

namespace dragoman::internal {

// `calibration`: of the model; null: it has none.
dragoman::Translation to_public(TranslatedLine line, const Calibration* calibration);
std::vector<WordAlignment> to_public(const std::vector<WordPair>& pairs);

std::vector<ScoredToken> scored_tokens(const dragoman::Hypothesis& hypothesis);

}  // namespace dragoman::internal
