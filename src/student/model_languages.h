// The languages of a recipe, for the models that it names. One of many languages must be told from which it translates
// into which; one of a single pair knows that, and is told nothing.
#pragma once

#include <string>

#include "dragoman/translator.h"

namespace dragoman::internal {

// What a request, or a score, adds to its settings. Empty languages are the model's defaults.
dragoman::Options language_options(const dragoman::Translator& model, const std::string& from,
                                   const std::string& to);
dragoman::ScoreSettings score_settings(const dragoman::Translator& model, const std::string& from,
                                       const std::string& to);

}  // namespace dragoman::internal
