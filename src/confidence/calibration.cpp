#include "confidence/calibration.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "model/tensor_checksums.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int64_t calibration_format = 1;

std::string path_in(const std::string& folder) { return folder + "/" + calibration_file; }

template <size_t count>
ordered_json to_json(const LogisticModel& model, const std::array<const char*, count>& names) {
  ordered_json weights;
  for (size_t i = 0; i < count; ++i) weights[names[i]] = model.weights[i];
  return {{"bias", model.bias}, {"weights", std::move(weights)}};
}

template <size_t count>
LogisticModel model_from(const json& object, const std::array<const char*, count>& names) {
  LogisticModel model = {.weights = {}, .bias = object.at("bias").get<double>()};
  for (const char* name : names) model.weights.push_back(object.at("weights").at(name).get<double>());
  return model;
}

ordered_json to_json(const Reliability& reliability) {
  ordered_json bins = ordered_json::array();
  for (const ReliabilityBin& bin : reliability.bins)
    bins.push_back({{"cases", bin.cases}, {"confidence", bin.confidence}, {"right", bin.right}});
  return {{"error", reliability.error}, {"bins", std::move(bins)}};
}

Reliability reliability_from(const json& object) {
  Reliability reliability = {.bins = {}, .error = object.at("error").get<double>()};
  for (const json& bin : object.at("bins"))
    reliability.bins.push_back(
        {integer_at(bin, "cases"), bin.at("confidence").get<double>(), bin.at("right").get<double>()});
  return reliability;
}

CalibrationQuality quality_from(const json& object) {
  return {.texts = integer_at(object, "texts"),
          .words = integer_at(object, "words"),
          .words_before = reliability_from(object.at("words_before")),
          .words_after = reliability_from(object.at("words_after")),
          .texts_before = reliability_from(object.at("texts_before")),
          .texts_after = reliability_from(object.at("texts_after")),
          .correlation_before = object.at("correlation_before").get<double>(),
          .correlation_after = object.at("correlation_after").get<double>()};
}

}  // namespace

ordered_json to_json(const CalibrationQuality& q) {
  return {{"texts", q.texts},
          {"words", q.words},
          {"words_before", to_json(q.words_before)},
          {"words_after", to_json(q.words_after)},
          {"texts_before", to_json(q.texts_before)},
          {"texts_after", to_json(q.texts_after)},
          {"correlation_before", q.correlation_before},
          {"correlation_after", q.correlation_after}};
}

Confidences Calibration::confidences(const ScoredText& text) const {
  Confidences all;
  for (const WordFeatures& features : word_features(text)) all.words.push_back(words.probability(features));
  all.text =
      all.words.empty() ? confidence_without_words(text.source) : texts.probability(text_features(text));
  return all;
}

double confidence_without_words(std::string_view source) { return word_spans(source).empty() ? 1 : 0; }

std::string folder_fingerprint(const std::string& folder) {
  return fingerprint(SafetensorsFile::open(existing_weights(folder)).metadata());
}

void write_calibration(const std::string& folder, const Calibration& calibration) {
  const ordered_json object = {{"format", calibration_format},
                               {"model", calibration.weights},
                               {"words", to_json(calibration.words, word_feature_names)},
                               {"texts", to_json(calibration.texts, text_feature_names)},
                               {"quality", to_json(calibration.quality)}};
  write_file(path_in(folder), {json_text(object, 1) + "\n"});
}

std::optional<Calibration> read_calibration(const std::string& folder) {
  const std::string path = path_in(folder);
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::nullopt;
  try {
    const json object = parse_json(read_file(path));
    if (integer_at(object, "format") > calibration_format)
      throw Error("{} was made by a later version of this program", path);
    if (object.at("model").get<std::string>() != folder_fingerprint(folder)) return std::nullopt;
    return Calibration{.words = model_from(object.at("words"), word_feature_names),
                       .texts = model_from(object.at("texts"), text_feature_names),
                       .quality = quality_from(object.at("quality")),
                       .weights = object.at("model").get<std::string>()};
  } catch (const json::exception& error) {
    throw Error("{} is damaged: {}; dragoman calibrate makes it anew", path, reason_of(error));
  }
}

}  // namespace dragoman::internal
