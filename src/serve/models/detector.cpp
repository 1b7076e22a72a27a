#include "serve/models/detector.h"

#include <algorithm>
#include <functional>
#include <map>

#include "serve/fasttext.h"
#include "serve/models/languages.h"

namespace dragoman::internal {
namespace {

constexpr double weight_of_others = 0.25;

}  // namespace

LanguageDetector::LanguageDetector(const std::string& file) : model_(open_fasttext(file)) {}

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view text,
                                                       const std::vector<std::string>& among) const {
  std::map<std::string, double> shares;
  double others = 1;
  for (const auto& [label, probability] : model_->probabilities(line_to_identify(text))) {
    const std::string code = language_code(label);
    shares[code.empty() ? label : code] += probability;
  }
  std::vector<DetectedLanguage> languages;
  for (const std::string& code : among) {
    const auto share = shares.find(code);
    const double probability = share != shares.end() ? share->second : 0;
    languages.push_back({code, probability});
    others -= probability;
  }
  const double served = 1 - others, all = served + weight_of_others * std::max(others, 0.0);
  for (DetectedLanguage& language : languages) language.confidence = all > 0 ? language.confidence / all : 0;
  std::ranges::stable_sort(languages, std::greater(), &DetectedLanguage::confidence);
  return languages;
}

}  // namespace dragoman::internal
