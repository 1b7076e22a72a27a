#include "student/model_languages.h"

namespace dragoman::internal {
namespace {

bool knows_several_languages(const dragoman::Translator& model) {
  const dragoman::ModelInfo info = model.info();
  return !info.source_languages.empty() || !info.target_languages.empty();
}

}  // namespace

dragoman::Options language_options(const dragoman::Translator& model, const std::string& from,
                                   const std::string& to) {
  dragoman::Options options;
  if (!knows_several_languages(model)) return options;
  if (!from.empty()) options.emplace_back("from", from);
  if (!to.empty()) options.emplace_back("to", to);
  return options;
}

dragoman::ScoreSettings score_settings(const dragoman::Translator& model, const std::string& from,
                                       const std::string& to) {
  dragoman::ScoreSettings settings;
  if (knows_several_languages(model)) {
    settings.from = from;
    settings.to = to;
  }
  return settings;
}

}  // namespace dragoman::internal
