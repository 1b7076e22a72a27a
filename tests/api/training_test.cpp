// Training by the library: callbacks, and a stop that loses nothing.
#include "dragoman/training.h"

#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "base/files.h"
#include "data/corpora.h"

namespace dragoman {
namespace {

class TrainingTest : public testing::Test {
 protected:
  TrainingRequest request(const std::string& name) {
    const internal::ToyText text = internal::toy_text(60);
    return {.recipe_text =
                "[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nheads = 2\nd_ff = 32\n",
            .options = {{"data.source", folder_.write("source", text.source)},
                        {"data.target", folder_.write("target", text.target)},
                        {"data.hold_out", 8},
                        {"vocabulary.size", 60},
                        {"training.batch_tokens", 64},
                        {"training.threads", 1},
                        {"training.max_steps", 12},
                        {"validation.every", 4},
                        {"validation.samples", 2}},
            .out = folder_.path(name)};
  }

  internal::TemporaryFolder folder_;
};

TEST_F(TrainingTest, CallsBack) {
  TrainingRequest r = request("run");
  std::vector<int64_t> steps, validated;
  r.on_step = [&](const TrainingStep& step) {
    steps.push_back(step.step);
    EXPECT_GT(step.loss, 0);
    EXPECT_GT(step.learning_rate, 0);
    EXPECT_GT(step.tokens_per_second, 0);
  };
  r.on_validation = [&](const ValidationResult& validation) {
    validated.push_back(validation.step);
    EXPECT_GT(validation.loss, 0);
    EXPECT_EQ(validation.samples.size(), 2U);
  };
  const TrainingResult result = train(r);
  EXPECT_EQ(result.steps, 12);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(validated, (std::vector<int64_t>{4, 8, 12}));
}

TEST_F(TrainingTest, AStoppedRunGoesOnToTheSameBits) {
  train(request("undisturbed"));
  TrainingRequest r = request("stopped");
  const auto stop = std::make_unique<std::stop_source>();  // on the heap: GCC 12 warns of one on the stack
  r.stop = stop->get_token();
  r.on_step = [&](const TrainingStep& step) {
    if (step.step == 5) stop->request_stop();
  };
  const TrainingResult first = train(r);
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(first.steps, 5);
  const TrainingResult second = train(request("stopped"));
  EXPECT_EQ(second.steps, 12);
  EXPECT_EQ(internal::read_file(folder_.path("stopped/model.safetensors")),
            internal::read_file(folder_.path("undisturbed/model.safetensors")));
}

TEST_F(TrainingTest, IsStoppedWhileTheCorpusIsPrepared) {
  TrainingRequest r = request("stopped");
  const auto stop = std::make_unique<std::stop_source>();
  stop->request_stop();
  r.stop = stop->get_token();
  const TrainingResult result = train(r);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.steps, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("stopped")));
}

TEST_F(TrainingTest, ARunTakesTheModelThatItBeginsWith) {
  train(request("general"));
  TrainingRequest r = request("special");
  r.recipe_text = "[vocabulary]\nfrom = \"" + folder_.path("general") + "\"\n";
  r.init_from = folder_.path("general");
  EXPECT_EQ(train(r).steps, 12);
  r = request("other");
  r.init_from = folder_.path("general");
  r.options.emplace_back("model.heads", 4);
  EXPECT_NE(message_of([&] { train(r); }).find("model.heads = 2"), std::string::npos);
}

TEST_F(TrainingTest, WhatACallbackThrowsComesOutUnchanged) {
  TrainingRequest r = request("thrown");
  r.on_step = [](const TrainingStep&) { throw std::out_of_range("mine"); };
  EXPECT_THROW(train(r), std::out_of_range);
  r.on_step = {};
  r.on_validation = [](const ValidationResult&) { throw 7; };
  EXPECT_THROW(train(r), int);
}

TEST_F(TrainingTest, RefusesWhatIsWrong) {
  TrainingRequest r = request("run");
  r.options.emplace_back("model.heads", 3);
  EXPECT_THROW(train(r), Error);
  r.options.back() = {"model.head", 2};
  EXPECT_THROW(train(r), Error);
  EXPECT_THROW(train({.recipe = "nowhere.toml"}), Error);
}

}  // namespace
}  // namespace dragoman
