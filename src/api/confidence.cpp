#include "dragoman/confidence.h"

#include <future>

#include "api/guard.h"
#include "api/results.h"
#include "base/error.h"
#include "confidence/calibrate.h"
#include "confidence/checks.h"

namespace dragoman {
namespace {

double right_share(const internal::Reliability& reliability) {
  double right = 0, all = 0;
  for (const internal::ReliabilityBin& bin : reliability.bins) {
    right += static_cast<double>(bin.cases) * bin.right;
    all += static_cast<double>(bin.cases);
  }
  return all > 0 ? right / all : 0;
}

CalibrationResult result_of(const internal::CalibrationQuality& q) {
  return {.texts = static_cast<size_t>(q.texts),
          .words = static_cast<size_t>(q.words),
          .right_words = right_share(q.words_after),
          .good_texts = right_share(q.texts_after),
          .word_error_before = q.words_before.error,
          .word_error_after = q.words_after.error,
          .text_error_before = q.texts_before.error,
          .text_error_after = q.texts_after.error,
          .correlation_before = q.correlation_before,
          .correlation_after = q.correlation_after};
}

std::vector<internal::ReferencedText> translated(Translator& translator, std::span<const TextPair> pairs,
                                                 const CalibrationSettings& settings) {
  std::vector<std::future<Translation>> translations;
  for (const TextPair& pair : pairs)
    translations.push_back(
        translator.submit({.text = pair.source, .options = settings.options, .stop = settings.stop}));
  std::vector<internal::ReferencedText> texts;
  for (std::future<Translation>& translation : translations) {
    const Translation done = translation.get();
    const Hypothesis& best = done.hypotheses.front();
    texts.push_back({.source = done.source,
                     .text = best.text,
                     .reference = pairs[texts.size()].target,
                     .tokens = internal::scored_tokens(best)});
  }
  return texts;
}

}  // namespace

std::vector<Finding> check_translation(std::string_view source, std::string_view translation,
                                       const std::string& from, const std::string& to) {
  std::vector<Finding> all;
  for (const internal::Finding& one : internal::check_translation(source, translation, from, to))
    all.push_back({internal::name_of(one.check), one.extra, one.text, internal::description_of(one)});
  return all;
}

CalibrationResult calibrate(const std::string& folder, std::span<const TextPair> pairs,
                            const CalibrationSettings& settings) {
  return internal::guarded([&] {
    Translator translator(folder, settings.translator);
    if (translator.info().language_model)
      throw internal::UsageError("{} is a language model: only translations are calibrated", folder);
    const internal::Calibration calibration =
        internal::calibrate(translated(translator, pairs, settings), internal::folder_fingerprint(folder));
    internal::write_calibration(folder, calibration);
    return result_of(calibration.quality);
  });
}

}  // namespace dragoman
