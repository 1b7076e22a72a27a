// Confidence in the public library: a calibration that a translator has from its folder, and checks.
#include "dragoman/confidence.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "confidence/calibration.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

const Options short_outputs = {{"max-length", 12}, {"beam", 2}};

// Of an untrained model: what it writes is the reference of two in three lines.
std::vector<TextPair> pairs_of(Translator& translator) {
  std::vector<TextPair> pairs;
  for (int i = 0; i < 60; ++i) {
    const std::string source = internal::known_lines()[size_t(i) % 4] + " " + std::to_string(i);
    const std::string text = translator.translate(source, short_outputs).text();
    pairs.push_back({source, i % 3 == 0 ? "something else" : text});
  }
  return pairs;
}

class ConfidenceTest : public testing::Test {
 protected:
  CalibrationResult calibrated() const {
    Translator before(folder_.path, {.threads = 1});
    return calibrate(folder_.path, pairs_of(before),
                     {.translator = {.threads = 1}, .options = short_outputs});
  }

  internal::ModelFolder folder_{"confidence-model"};
};

TEST_F(ConfidenceTest, ACalibratedFolderGivesCalibratedConfidences) {
  Translator before(folder_.path, {.threads = 1});
  const std::string text = internal::known_lines()[0];
  const Translation plain = before.translate(text, short_outputs);
  EXPECT_FALSE(plain.hypotheses[0].calibrated);

  const CalibrationResult result = calibrated();
  EXPECT_EQ(result.texts, 60u);
  EXPECT_NEAR(result.good_texts, 2.0 / 3, 0.05);
  EXPECT_LT(result.text_error_after, result.text_error_before);

  Translator after(folder_.path, {.threads = 1});
  const Translation sure = after.translate(text, short_outputs);
  EXPECT_EQ(sure.text(), plain.text());
  const Hypothesis& best = sure.hypotheses[0];
  ASSERT_TRUE(best.calibrated);
  EXPECT_EQ(best.confidence(), *best.calibrated);
  ASSERT_EQ(best.words().size(), best.calibrated_words.size());
  EXPECT_EQ(best.words()[0].confidence, best.calibrated_words[0]);
  EXPECT_NE(best.confidence(), plain.hypotheses[0].confidence());

  Hypothesis changed = best;
  changed.text += " of a user";
  ASSERT_EQ(changed.words().size(), best.words().size() + 3);
  EXPECT_EQ(changed.words()[0].confidence, best.calibrated_words[0]);
  EXPECT_EQ(changed.words().back().confidence, 1);
}

TEST_F(ConfidenceTest, ACalibrationThatIsStoppedWritesNothing) {
  Translator translator(folder_.path, {.threads = 1});
  std::stop_source stop;
  stop.request_stop();
  try {
    calibrate(folder_.path, pairs_of(translator),
              {.translator = {.threads = 1}, .options = short_outputs, .stop = stop.get_token()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path + "/confidence.json"));
}

TEST_F(ConfidenceTest, WithoutTokensThereIsNone) {
  calibrated();
  Translator translator(folder_.path, {.threads = 1});
  Request request = {.text = internal::known_lines()[0], .options = short_outputs};
  request.tokens = false;
  EXPECT_FALSE(translator.submit(request).get().hypotheses[0].calibrated);
}

TEST_F(ConfidenceTest, AnEnsembleHasNone) {
  calibrated();
  Translator both(std::vector{folder_.path, folder_.path}, {.threads = 1});
  EXPECT_FALSE(both.translate(internal::known_lines()[0], short_outputs).hypotheses[0].calibrated);
}

TEST_F(ConfidenceTest, ADamagedCalibrationIsRefused) {
  internal::write_file(folder_.path + "/" + internal::calibration_file, {"{}"});
  try {
    Translator translator(folder_.path, {.threads = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("dragoman calibrate makes it anew"), std::string::npos)
        << error.what();
  }
}

TEST_F(ConfidenceTest, TooFewPairsAreRefused) {
  const std::vector<TextPair> few = {{"a", "b"}};
  EXPECT_THROW(calibrate(folder_.path, few), Error);
}

TEST(Findings, AreDescribed) {
  const std::vector<Finding> found = check_translation("There are 37.", "Il y en a.", "en", "fr");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].check, "numbers");
  EXPECT_EQ(found[0].description, "“37” is missing");
}

}  // namespace
}  // namespace dragoman
