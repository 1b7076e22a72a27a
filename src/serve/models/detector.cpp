#include "serve/models/detector.h"

#include <algorithm>
#include <functional>
#include <map>

#include "serve/fasttext.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

constexpr double weight_of_others = 0.25;

std::string_view without_subtags(std::string_view code) { return code.substr(0, code.find('-')); }

// The served code that a detected language is translated as: "pt-BR" for "pt" where that is not served. Null: none.
const std::string* served_as(const std::string& language, const std::vector<std::string>& among) {
  auto found = std::ranges::find(among, language);
  if (found == among.end()) found = std::ranges::find(among, without_subtags(language), without_subtags);
  return found == among.end() ? nullptr : &*found;
}

}  // namespace

LanguageDetector::LanguageDetector(const std::string& file) : model_(open_fasttext(file)) {}

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view text,
                                                       const std::vector<std::string>& among) const {
  std::map<std::string, double> shares;
  for (const auto& [label, probability] : model_->probabilities(line_to_identify(text))) {
    const std::string code = language_code(label);
    if (const std::string* const served = served_as(code.empty() ? label : code, among))
      shares[*served] += probability;
  }
  double others = 1;
  std::vector<DetectedLanguage> languages;
  for (const std::string& code : among) {
    languages.push_back({code, shares[code]});
    others -= shares[code];
  }
  const double served = 1 - others, all = served + weight_of_others * std::max(others, 0.0);
  for (DetectedLanguage& language : languages) language.confidence = all > 0 ? language.confidence / all : 0;
  std::ranges::stable_sort(languages, std::greater(), &DetectedLanguage::confidence);
  return languages;
}

}  // namespace dragoman::internal
