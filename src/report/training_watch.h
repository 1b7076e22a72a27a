// The data of a report while its runs train.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "train/history.h"

namespace dragoman::internal {

class TrainingWatch {
 public:
  // A run's folder, or one with runs in it: the eight that changed last are watched.
  explicit TrainingWatch(std::string folder) : folder_(std::move(folder)) {}

  // The data of training_report.h if anything is new since the last call, else nothing.
  std::optional<nlohmann::ordered_json> update();

 private:
  std::string folder_;
  struct Run {
    GrowingHistory history;
    bool running = false;
  };

  std::map<std::string, Run> runs_;  // by their folders
  bool first_ = true;
};

}  // namespace dragoman::internal
