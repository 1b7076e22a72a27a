// The model's file of a run: its best weights so far, and at the end perhaps an average. It records their
// step, so that an earlier model is not mistaken for the wanted one.
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
  bool resumable = true;  // false: the run has no checkpoint yet, and may start over and replace the model
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
