// Preconditions for starting or resuming a run in a folder, and what a run takes from another. A UsageError names the
// one that fails, and what to do.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "parallel/processes.h"
#include "train/recipe.h"
#include "train/run_options.h"

namespace dragoman::internal {

// Sets the options of [model] that were not given: where the run resumes to the run's values, else to those of the
// model of --init-from, except dropout and initialisation.
void take_model(Options& options, const RunOptions& run);

// The recipe, which says nothing about the weights that the run resumes or starts with, with the layer whose attention
// aligns words there.
Recipe with_known_alignment(Recipe recipe, const RunOptions& run);

// Before anything is written: that the folder holds this run or nothing, and that the model of --init-from computes
// what a new run's model does.
void check_fits_folder(const Recipe& recipe, const RunOptions& options);

// Once the corpus is prepared and no usable checkpoint was found: that a new run may start.
void check_fits_new_run(const RunOptions& options);

// That the run's model and corpus are those of the checkpoint, as far as its state says: tensors of equal shapes may
// compute another thing, and other data lead elsewhere.
void check_fits_checkpoint(const nlohmann::json& state, const std::string& checkpoint,
                           const ModelConfig& model, const std::string& corpus);

// Where a process stands, to compare with the others. Sums of gradients make sense only for the same weights and the
// same kernels.
struct ProcessState {
  int64_t step, epoch, index;
  std::string instruction_set;  // or the GPU
};

// That all processes are at the same point. Only the first process reports what is wrong.
void check_processes_agree(Processes& processes, const std::string& folder, const ProcessState& own);

// The recipe as config.json holds it, for comparison when the run resumes.
nlohmann::json recipe_json(const Recipe& recipe);

}  // namespace dragoman::internal
