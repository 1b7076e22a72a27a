// Runs of a tiny model in this process, from a recipe to what they leave in their folders.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "data/corpora.h"
#include "train/history.h"
#include "train/run.h"

namespace dragoman::internal {

class WholeRun : public testing::Test {
 protected:
  WholeRun() {
    recipe_.model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
    recipe_.training.threads = 1;
    recipe_.validation.metrics = {"loss"};
    recipe_.validation.samples = 0;
  }

  void learn_from_text(int64_t pairs) {
    recipe_.data = toy_data(folder_, toy_text(pairs));
    recipe_.data.hold_out = 10;
    recipe_.vocabulary = toy_vocabulary();
    recipe_.vocabulary.sampling = 0.1;
  }

  History train(const std::string& name) {
    dragoman::internal::Run run(recipe_, {.folder = folder_.path(name)});
    run.train();
    return read_history(folder_.path(name) + "/metrics.jsonl");
  }

  TemporaryFolder folder_;
  Recipe recipe_;
};

}  // namespace dragoman::internal
