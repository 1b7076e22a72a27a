// Task: training batches and a validation set, from a corpus or synthetic.
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

namespace dragoman::internal {

// Sentences that the model does not learn from. References are plain text.
struct ValidationSet {
  std::vector<Batch> batches;                         // for the loss
  std::vector<PackedSide> sources;                    // the same sentences for translation, in groups
  std::vector<std::string> source_texts, references;  // in the order of `sources`

  bool empty() const { return batches.empty(); }
};

struct Task {
  Recipe recipe;  // complete: with the sizes of the vocabularies, and nothing automatic left
  std::unique_ptr<BatchSource> training;
  ValidationSet validation;   // empty in all processes but the first
  StartTokens start = 1;      // what the decoder reads first
  int32_t end = 2;            // −1: targets have no end mark,
  int64_t target_length = 0;  // but this length
  std::function<std::string(std::span<const int32_t>)> target_text;
  std::string
      corpus;  // a checksum of what is trained on, which a resumed run must find again; empty if synthetic
  nlohmann::json facts;  // about the corpus, for metrics.jsonl; null if there is none
};

// Of this process.
int thread_count(const TrainingConfig& training, const Processes& processes);

// A valid recipe is completed once, on this way: make_task prepares the corpus unless it is prepared already, fills in
// by resolved() what depends on it and on the machine, and makes the batches. `folder`: of the model.
Task make_task(const Recipe& recipe, const std::string& folder, Processes& processes = single_process());

// The recipe with the sizes of the vocabularies, and batch_tokens as a number. `local_processes`: on this machine.
Recipe resolved(Recipe recipe, const Vocabularies& vocabularies, const std::string& folder,
                int local_processes = 1);

}  // namespace dragoman::internal
