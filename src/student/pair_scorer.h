// Scores for cleaning: how likely a model finds the translation in a pair.
#pragma once

#include <string>

#include "data/cleaning_settings.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

// By the model, which must outlive it; `backward`: it translates the targets into the sources. The languages are those
// of the pairs, where they are known.
PairScorer pair_scorer_of(dragoman::Translator& model, bool backward, const std::string& from,
                          const std::string& to);

}  // namespace dragoman::internal
