// Task: what a run learns from and is measured by, whether it is a corpus or made up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/batch_source.h"
#include "parallel/processes.h"
#include "text/vocabulary.h"
#include "train/recipe.h"

namespace dragoman {

// Sentences that are only measured. References are text, as a reader has it.
struct ValidationSet {
  std::vector<Batch> batches;       // for the loss
  std::vector<PackedSide> sources;  // the same sentences for translating, a few dozen at a time
  std::vector<std::string> source_texts, references;  // in the order of `sources`

  bool empty() const { return batches.empty(); }
};

struct Task {
  Recipe recipe;  // as the run has it: with the vocabularies' sizes, and batch_tokens as a number
  std::unique_ptr<BatchSource> training;
  ValidationSet validation;    // the first process's
  int32_t start = 1, end = 2;  // end −1: targets have no end mark,
  int64_t target_length = 0;   // but are all this long
  std::function<std::string(std::span<const int32_t>)> target_text;
  nlohmann::json facts;  // of the preparation, for metrics.jsonl; null where there was none
};

// Fills in what only the prepared corpus and the machine can say. `folder`: the model's.
Recipe resolved(Recipe recipe, const Vocabularies& vocabularies, const std::string& folder,
                int processes_here = 1);

// Prepares the corpus where it is not prepared yet. Of several processes the first one comes before the others.
Task make_task(const Recipe& recipe, const std::string& folder,
               const Processes& processes = single_process());

}  // namespace dragoman
