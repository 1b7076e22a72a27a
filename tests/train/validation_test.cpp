// Validation: what is translated and how, and the limit of learned positions.
#include "train/validation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "data/corpora.h"
#include "search/search.h"
#include "testing.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

class ValidationTest : public testing::Test {
 protected:
  ValidationTest() {
    recipe_.model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
    recipe_.training.threads = 1;
    recipe_.training.max_steps = 1;
  }

  // Short sentences; ten pairs and these are the validation set.
  void learn_from_text(const std::string& more_sources, const std::string& more_targets) {
    recipe_.data = toy_data(folder_, toy_text(100, 3));
    const ToyText valid = toy_text(10, 3, 2);
    recipe_.data.valid_source = {folder_.write("valid.source", valid.source + more_sources)};
    recipe_.data.valid_target = {folder_.write("valid.target", valid.target + more_targets)};
    recipe_.vocabulary = toy_vocabulary();
  }

  // The references of a run.
  std::vector<std::string> validated() {
    dragoman::internal::Run run(recipe_, {.folder = folder_.path("run")});
    run.train();
    return run.task().validation.references;
  }

  TemporaryFolder folder_;
  Recipe recipe_;
};

// Three batches of four synthetic sentences, and an untrained model.
class SyntheticValidation : public ValidationTest {
 protected:
  SyntheticValidation()
      : task_(make_task({.data = {.synthetic = Synthetic::copy, .sentences = 4, .valid_batches = 3},
                         .model = recipe_.model},
                        folder_.path("run"))),
        device_(*every_instruction_set().front(), 1),
        model_(task_.recipe.model, device_, Buffers::weights_and_gradients),
        trainer_(model_, {}) {
    model_.parameters.initialise(1);
  }

  std::vector<std::string> translations(const ValidationConfig& config) {
    return validate_model(trainer_, task_, config)->translations;
  }

  Task task_;
  Device device_;
  Transformer model_;
  Trainer trainer_;
};

TEST_F(SyntheticValidation, OnlyWhatIsShownOrMeasuredIsTranslated) {
  EXPECT_EQ(translations({.metrics = {"loss"}, .samples = 0}).size(), 0u);
  EXPECT_EQ(translations({.metrics = {"loss"}, .samples = 3}).size(), 4u);  // a group
  EXPECT_EQ(translations({.metrics = {"loss"}, .samples = 5}).size(), 8u);
  EXPECT_EQ(translations({.metrics = {"chrf"}, .samples = 0}).size(), 12u);
}

TEST_F(SyntheticValidation, TheBeamIsTheRecipes) {
  for (const int64_t beam : {1, 5}) {
    std::vector<std::string> wanted;
    const SearchOptions options = {
        .beam = beam, .max_length = task_.target_length, .max_length_ratio = 0, .always_allow = {}};
    for (const PackedSide& source : task_.validation.sources) {
      for (const auto& found : search_all(model_, source, options, {.end = -1}))
        wanted.push_back(task_.target_text(found[0].tokens));
    }
    EXPECT_EQ(translations({.beam = beam}), wanted);
  }
  EXPECT_NE(translations({.beam = 1}), translations({.beam = 5}));
}

// A model that never ends its sentences generates as many tokens as it has positions, after the one that it is given.
TEST_F(SyntheticValidation, LearnedPositionsBoundTheTranslations) {
  task_.recipe.model.positions = Positions::learned;
  task_.recipe.model.max_positions = 12;
  Transformer model(task_.recipe.model, device_, Buffers::weights_and_gradients);
  model.parameters.initialise(1);
  task_.end = 0;
  model.generator.bias.data()[task_.end] = -1e9f;
  Trainer trainer(model, {});
  const std::optional<Validation> validation = validate_model(trainer, task_, {});
  ASSERT_EQ(validation->translations.size(), 12u);
  for (const std::string& text : validation->translations) EXPECT_EQ(std::ranges::count(text, ' '), 11);
}

TEST_F(ValidationTest, PairsWithMoreTokensThanPositionsAreLeftOut) {
  std::string longer;
  for (int word = 0; word < 30; ++word) longer += "kalo ";
  learn_from_text(longer + "\nkalo\n", "kalo\n" + longer + "\n");
  recipe_.data.max_length = 19;
  recipe_.model.positions = Positions::learned;
  recipe_.model.max_positions = 20;
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  EXPECT_EQ(validated().size(), 10u);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("2 of 12 pairs left out, longer than the 20 tokens"), std::string::npos) << log;
}

// An ideographic space.
TEST_F(ValidationTest, ALineWithoutSubwordsIsALine) {
  learn_from_text("\u3000\n", "kalo\n");
  recipe_.vocabulary.source_eos = false;
  EXPECT_EQ(validated().size(), 11u);
}

}  // namespace
}  // namespace dragoman::internal
