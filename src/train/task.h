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
#include "data/prepare_corpus.h"
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
  std::shared_ptr<BatchSource> training;
  ValidationSet validation;   // empty in all processes but the first
  StartTokens start = 1;      // what the decoder reads first
  int32_t end = 2;            // −1: targets have no end mark,
  int64_t target_length = 0;  // but this length
  std::function<std::string(std::span<const int32_t>)> target_text;
  std::string corpus;    // a checksum of the training data, the same when a run resumes; empty if synthetic
  nlohmann::json facts;  // about the corpus, for metrics.jsonl; null if there is none
};

// What a corpus must have for this recipe.
Links wanted_links(const Recipe& recipe);

// The number of threads of this process.
int thread_count(const TrainingConfig& training, const Processes& processes);

// Completes a valid recipe and makes its batches: prepares the corpus unless that is done, and fills in what depends on
// it and on the machine, the precision among that. `folder`: of the model. `stop`: asked while the corpus is prepared.
Task make_task(const Recipe& recipe, const std::string& folder, Processes& processes = single_process(),
               const std::function<bool()>& stop = {});

// The recipe with the sizes of the vocabularies, and batch_tokens as a number. `local_processes`: on this machine.
Recipe resolved(Recipe recipe, const Vocabularies& vocabularies, const std::string& folder,
                int local_processes = 1);

}  // namespace dragoman::internal
