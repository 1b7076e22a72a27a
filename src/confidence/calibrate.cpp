#include "confidence/calibrate.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "base/error.h"
#include "confidence/words.h"
#include "metrics/chrf.h"
#include "metrics/edit_distance.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr size_t parts = 5, fewest_texts = 50;

// The model's own probabilities, among the features.
constexpr size_t word_probability = 2, text_probability = 1;

class WordNumbers {
 public:
  std::vector<int32_t> of(std::string_view text) {
    const std::u32string all = code_points(text);
    std::vector<int32_t> numbers;
    for (const std::u32string_view word : split_words(all))
      numbers.push_back(
          numbers_.try_emplace(compared(word), static_cast<int32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  static std::u32string compared(std::u32string_view word) {
    return lower_case(std::u32string(without_punctuation(word)));
  }

  std::map<std::u32string, int32_t> numbers_;
};

// A text that is judged, and what confidence goes by.
struct Case {
  std::vector<WordFeatures> words;
  TextFeatures text;
  std::vector<double> right;  // 1 or 0, of each word
  double good = 0, chrf = 0;  // chrF from 0 to 1
  double without_words = 1;   // the confidence in a text that has none
};

Case case_of(const ReferencedText& text) {
  const WordJudgement judgement = judge(text.text, text.reference);
  return {.words = word_features(text.scored()),
          .text = text_features(text.scored()),
          .right = {judgement.right.begin(), judgement.right.end()},
          .good = judgement.good ? 1.0 : 0.0,
          .chrf = chrf_score(chrf_statistics(text.text, text.reference)) / 100,
          .without_words = confidence_without_words(text.source)};
}

struct Fitted {
  LogisticModel words, texts;
};

// A probability that orders texts as their chrF does: the order is learned from chrF, which tells more than whether a
// text is good, and the probability from that.
LogisticModel fit_texts(const FeatureRows& rows, const std::vector<double>& chrf,
                        const std::vector<double>& good) {
  LogisticModel model = fit_logistic(rows, chrf);
  FeatureRows odds(1);
  for (size_t row = 0; row < rows.size(); ++row) odds.add(std::array{model.log_odds(rows[row])});
  const LogisticModel scale = fit_logistic(odds, good);
  for (double& weight : model.weights) weight *= scale.weights[0];
  model.bias = model.bias * scale.weights[0] + scale.bias;
  return model;
}

// To all but those of a part.
Fitted fit(const std::vector<Case>& cases, size_t left_out) {
  FeatureRows word_rows(word_feature_names.size()), text_rows(text_feature_names.size());
  std::vector<double> right, chrf, good;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    if (i % parts == left_out || one.words.empty()) continue;
    for (const WordFeatures& features : one.words) word_rows.add(features);
    right.insert(right.end(), one.right.begin(), one.right.end());
    text_rows.add(one.text);
    chrf.push_back(one.chrf);
    good.push_back(one.good);
  }
  return {.words = fit_logistic(word_rows, right), .texts = fit_texts(text_rows, chrf, good)};
}

struct Measured {
  std::vector<double> words_before, words_after, right;
  std::vector<double> texts_before, texts_after, good, chrf;

  void add(const Case& one, const Fitted& fitted) {
    for (const WordFeatures& features : one.words) {
      words_before.push_back(features[word_probability]);
      words_after.push_back(fitted.words.probability(features));
    }
    right.insert(right.end(), one.right.begin(), one.right.end());
    texts_before.push_back(one.words.empty() ? one.without_words : one.text[text_probability]);
    texts_after.push_back(one.words.empty() ? one.without_words : fitted.texts.probability(one.text));
    good.push_back(one.good);
    chrf.push_back(one.chrf);
  }

  CalibrationQuality quality() const {
    return {.texts = std::ssize(good),
            .words = std::ssize(right),
            .words_before = reliability(words_before, right),
            .words_after = reliability(words_after, right),
            .texts_before = reliability(texts_before, good),
            .texts_after = reliability(texts_after, good),
            .correlation_before = rank_correlation(texts_before, chrf),
            .correlation_after = rank_correlation(texts_after, chrf)};
  }
};

void check_both_occur(const std::vector<Case>& cases) {
  double words = 0, right = 0;
  for (const Case& one : cases) {
    words += static_cast<double>(one.right.size());
    right += std::accumulate(one.right.begin(), one.right.end(), 0.0);
  }
  if (right == 0 || right == words)
    throw Error(
        "{} of the translations' {} words are in their references: a calibration learns from right and from "
        "wrong words; are these the references of these texts?",
        right, words);
}

}  // namespace

WordJudgement judge(std::string_view text, std::string_view reference) {
  WordNumbers numbers;
  const std::vector<int32_t> ours = numbers.of(text), theirs = numbers.of(reference);
  BandedEditDistance distance(theirs, ours.size());
  const int64_t edits = distance.measure(ours);
  const EditPath path = distance.path();
  WordJudgement judgement;
  for (size_t i = 0; i < ours.size(); ++i)
    judgement.right.push_back(path.hypothesis_wrong[i + 1] == path.hypothesis_wrong[i]);
  const auto words = static_cast<double>(std::max<size_t>(theirs.size(), 1));
  judgement.good = static_cast<double>(edits) <= good_edits * words;
  return judgement;
}

Calibration calibrate(std::span<const ReferencedText> texts, const std::string& weights) {
  if (texts.size() < fewest_texts)
    throw Error("{} translations with references are too few: a calibration needs {} at least, better 1,000",
                texts.size(), fewest_texts);
  std::vector<Case> cases;
  for (const ReferencedText& text : texts) cases.push_back(case_of(text));
  check_both_occur(cases);
  Measured measured;
  std::vector<Fitted> fitted;
  for (size_t part = 0; part < parts; ++part) fitted.push_back(fit(cases, part));
  for (size_t i = 0; i < texts.size(); ++i) measured.add(cases[i], fitted[i % parts]);
  const Fitted all = fit(cases, parts);
  return {.words = all.words, .texts = all.texts, .quality = measured.quality(), .weights = weights};
}

}  // namespace dragoman::internal
