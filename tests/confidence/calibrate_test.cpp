// Calibrations: which words count as right, what is learned from them, and what becomes of the file.
#include "confidence/calibrate.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Right = std::vector<bool>;

TEST(Judge, WordsThatStandInTheReference) {
  EXPECT_EQ(judge("le chat noir dort", "le chat blanc dort").right, (Right{true, true, false, true}));
  EXPECT_EQ(judge("Le chat, dort !", "le chat dort !").right, (Right{true, true, true, true}));
  EXPECT_EQ(judge("a b", "b").right, (Right{false, true}));
  EXPECT_EQ(judge("", "b").right, Right{});
}

TEST(Judge, AGoodTextNeedsFewEdits) {
  EXPECT_TRUE(judge("a b c d", "a b c x").good);
  EXPECT_FALSE(judge("a b c", "a b x").good);
  EXPECT_FALSE(judge("a b c", "a b c d e").good);  // what is missing counts, too
}

// Texts of ten words, whose tokens say that they are right with a probability of p, and of which p² are.
std::vector<ReferencedText> overconfident_texts(size_t count) {
  Random random(7);
  std::vector<ReferencedText> texts;
  for (size_t i = 0; i < count; ++i) {
    ReferencedText text = {.source = "a source of some words", .text = {}, .reference = {}, .tokens = {}};
    const double sure = random.uniform();
    for (size_t word = 0; word < 10; ++word) {
      const double p = std::min(1.0, std::max(0.02, sure + 0.2 * (random.uniform() - 0.5)));
      const std::string right = "w" + std::to_string(word);
      text.tokens.push_back({{text.text.size(), text.text.size() + 2}, std::log(p)});
      text.text += (random.uniform() < p * p ? right : "xx") + " ";
      text.reference += right + " ";
    }
    text.text.pop_back();
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(Calibrate, ConfidencesBecomeTheSharesThatAreRight) {
  const Calibration calibration = calibrate(overconfident_texts(600), "");
  const CalibrationQuality& q = calibration.quality;
  EXPECT_EQ(q.texts, 600);
  EXPECT_EQ(q.words, 6000);
  EXPECT_GT(q.words_before.error, 0.1);
  EXPECT_LT(q.words_after.error, 0.03);
  EXPECT_LT(q.texts_after.error, q.texts_before.error / 3);
  EXPECT_GT(q.correlation_after, 0.6);
}

// A word that a search is less sure of is no surer after calibration, and all are probabilities.
TEST(Calibrate, ASurerWordStaysSurer) {
  const std::vector<ReferencedText> texts = overconfident_texts(600);
  const Calibration calibration = calibrate(texts, "");
  for (size_t i = 0; i < 20; ++i) {
    ReferencedText text = texts[i];
    const Confidences before = calibration.confidences(text.scored());
    ASSERT_EQ(before.words.size(), 10u);
    text.tokens[3].log_probability -= 2;
    const Confidences after = calibration.confidences(text.scored());
    EXPECT_LT(after.words[3], before.words[3]);
    EXPECT_LT(after.text, before.text);
    for (const double one : after.words) EXPECT_TRUE(one >= 0 && one <= 1);
  }
}

TEST(Calibrate, NothingIsNoTranslationOfAText) {
  const Calibration calibration = calibrate(overconfident_texts(60), "");
  EXPECT_EQ(calibration.confidences({"a source", "", {}}).text, 0);
  EXPECT_EQ(calibration.confidences({"a source", " ", {}}).text, 0);
  EXPECT_EQ(calibration.confidences({" ", "", {}}).text, 1);
  std::vector<ReferencedText> texts = overconfident_texts(600);
  for (size_t i = 0; i < texts.size(); i += 2) {
    texts[i].text.clear();
    texts[i].tokens.clear();
  }
  EXPECT_LT(calibrate(texts, "").quality.texts_after.error, 0.2);
}

TEST(Calibrate, TooFewTexts) {
  try {
    calibrate(overconfident_texts(20), "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("20 translations with references are too few"),
              std::string::npos);
  }
}

// As with references in another language, or of other texts.
TEST(Calibrate, NeedsWordsThatAreRightAndWordsThatAreWrong) {
  for (const bool right : {false, true}) {
    std::vector<ReferencedText> texts = overconfident_texts(60);
    for (ReferencedText& text : texts) text.reference = right ? text.text : "something else";
    try {
      calibrate(texts, "");
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("learns from right and from wrong words"), std::string::npos)
          << error.what();
    }
  }
}

class CalibrationFile : public testing::Test {
 protected:
  void SetUp() override { write_model(1); }

  // Weights that differ by a value.
  void write_model(float value) {
    const TensorEntry tensor = {"w", Dtype::f32, {1}, std::as_bytes(std::span(&value, 1))};
    write_safetensors(weights_path(folder()), {}, std::span(&tensor, 1));
  }
  std::string folder() const { return folder_.path(""); }

  const TemporaryFolder folder_;
  const Calibration calibration_ = calibrate(overconfident_texts(60), "");
};

TEST_F(CalibrationFile, GivesTheSameConfidences) {
  EXPECT_FALSE(read_calibration(folder()));
  Calibration written = calibration_;
  written.weights = folder_fingerprint(folder());
  write_calibration(folder(), written);
  const std::optional<Calibration> read = read_calibration(folder());
  ASSERT_TRUE(read);
  const std::vector<ReferencedText> texts = overconfident_texts(60);
  EXPECT_EQ(read->confidences(texts[5].scored()).words, written.confidences(texts[5].scored()).words);
  EXPECT_EQ(read->confidences(texts[5].scored()).text, written.confidences(texts[5].scored()).text);
  EXPECT_EQ(read->quality.words_after.error, written.quality.words_after.error);
}

TEST_F(CalibrationFile, OfOtherWeightsDoesNotCount) {
  Calibration written = calibration_;
  written.weights = folder_fingerprint(folder());
  write_calibration(folder(), written);
  write_model(2);
  EXPECT_FALSE(read_calibration(folder()));
}

TEST_F(CalibrationFile, DamageIsOneSentence) {
  for (const std::string text : {"", "{", "[]", "{\"format\":1}", "{\"format\":1,\"model\":7}"}) {
    write_file(folder() + "/" + calibration_file, {text});
    try {
      read_calibration(folder());
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("confidence.json is damaged"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
