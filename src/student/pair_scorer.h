// Scores for cleaning: how likely a model finds the translation in a pair.
#pragma once

#include "data/cleaning_settings.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

// By the model, which must outlive it; `backward`: it translates the targets into the sources.
PairScorer pair_scorer_of(dragoman::Translator& model, bool backward);

}  // namespace dragoman::internal
