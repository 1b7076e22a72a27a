// The model's file of a run: its best weights so far, and at the end perhaps an average. It says of which step they
// are, so that no earlier model is taken for the one that is wanted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace dragoman::internal {

// What the file says about its weights.
struct RunModel {
  std::string step;
  bool resumable = true;  // false: the run has no checkpoint yet, and may start anew and replace the model
};

RunModel model_of_step(int64_t step, bool resumable);
RunModel model_of_average(const std::vector<int64_t>& steps);

void write_run_model(const std::string& folder, const Parameters& parameters, std::span<const float> weights,
                     const RunModel& model);

// Whether the file has these very weights, and says the same about them.
bool has_run_model(const std::string& folder, const Parameters& parameters, std::span<const float> weights,
                   const RunModel& model);

// What the file says. The step is empty where an earlier version wrote it. Throws Error if there is no such file.
RunModel read_run_model(const std::string& folder);

}  // namespace dragoman::internal
