#include "serve/models/detector.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <unicode/unistr.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "serve/models/languages.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr uintmax_t file_size = 938'013;
constexpr std::string_view file_checksum = "d958bea1490fb5da";

constexpr size_t longest_text = 4096;  // bytes that are looked at
constexpr double weight_of_others = 0.25;

std::string detector_file(const std::string& path) {
  const std::string what = " is not fastText's lid.176.ftz: tools/get_detector downloads it";
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size != file_size) throw Error(path + what);
  std::string bytes = read_file(path);
  if (checksum_of(bytes) != file_checksum) throw Error(path + what);
  return bytes;
}

// One line of valid UTF-8, as the model was trained on: its beginning, if it is long, up to a whole character.
std::string line_of(std::string_view text) {
  if (text.size() > longest_text) {
    size_t end = longest_text;
    while (end > longest_text - 3 && is_continuation(text[end])) --end;
    text = text.substr(0, end);
  }
  std::string line;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}).toUTF8String(line);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

}  // namespace

LanguageDetector::LanguageDetector(const std::string& file) : model_(read_fasttext(detector_file(file))) {}

std::vector<DetectedLanguage> LanguageDetector::detect(std::string_view text,
                                                       const std::vector<std::string>& among) const {
  std::map<std::string, double> shares;
  double others = 1;
  for (const auto& [label, probability] : model_->probabilities(line_of(text))) {
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
