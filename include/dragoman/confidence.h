// How far to trust a translation: a model's calibration, and checks that need no model.
//
//   dragoman::calibrate("models/demo", pairs);          // once; pairs that the model was not trained on
//   dragoman::Translator translator("models/demo");
//   const dragoman::Translation t = translator.translate("Tom has 3 cats.");
//   if (t.hypotheses[0].confidence() < 0.5 || !dragoman::check_translation(t.source, t.text(), "en", "fr").empty()) ...
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dragoman/export.h"
#include "dragoman/translator.h"

namespace dragoman {

// What a translation lacks, or has too much of. No proof: a translator may have had a reason.
struct Finding {
  std::string check;   // numbers, placeholders, names, negation, repetition, untranslated or wrong_language
  bool extra = false;  // in the translation and not in the source; else the reverse
  std::string text;    // what: "37"; of wrong_language the one that it is probably in: "en"
  std::string description;  // “37” is missing
};

// `from`, `to`: languages such as "en"; negation is checked between those whose words for "not" are known, and the
// language where that of the translation is known.
DRAGOMAN_API std::vector<Finding> check_translation(std::string_view source, std::string_view translation,
                                                    const std::string& from = "", const std::string& to = "");

struct CalibrationSettings {
  TranslatorSettings translator = {};
  Options options = {};       // of the translations
  std::stop_token stop = {};  // ends it: an Error of kind cancelled, and nothing is written
};

// The errors of probabilities: the mean difference, over tenths of the probability, between it and the share that was
// right. Before: of the model's own probabilities; after: of the calibrated ones, for texts that the calibration was not
// fitted to.
struct CalibrationResult {
  size_t texts = 0, words = 0;
  double right_words = 0, good_texts = 0;  // shares
  double word_error_before = 0, word_error_after = 0;
  double text_error_before = 0, text_error_after = 0;
  double correlation_before = 0, correlation_after = 0;  // of the order by confidence with that by chrF
};

// Translates the sources, learns from the targets how likely a word and a whole translation are right, and writes that
// to the model's folder: confidence.json. A Translator that is opened from then on has it in Hypothesis::confidence()
// and words(). A translation counts as right if at most a quarter of its words would be changed.
DRAGOMAN_API CalibrationResult calibrate(const std::string& folder, std::span<const TextPair> pairs,
                                         const CalibrationSettings& settings = {});

}  // namespace dragoman
