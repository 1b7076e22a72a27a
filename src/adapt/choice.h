// How much of the tuning is kept: all of it where general text loses no more than it may; else the largest share, found
// by bisection, of the way from the old weights to the new ones (WiSE-FT: Wortsman et al., 2022).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "adapt/config.h"
#include "adapt/split_text.h"
#include "student/stage.h"

namespace dragoman::internal {

// BLEU on the two held-out parts.
struct AdaptScores {
  double segments = 0, general = 0;
};

struct AdaptChoice {
  AdaptScores before, after;
  double share = 0;              // of the tuning; 0: nothing of it may be kept
  double max_loss = 0;           // BLEU that general text may lose
  bool was_made_before = false;  // of the same inputs: nothing was to be done

  // The segments gain, and general text loses no more than it may.
  bool is_better() const { return share > 0 && after.segments > before.segments; }
};
nlohmann::ordered_json to_json(const AdaptChoice& choice);
AdaptChoice choice_from_json(const nlohmann::ordered_json& report);

struct AdaptTests {
  std::vector<TextPair> segments, general;
  // The general targets are references; else the old model made them, and how much the new one differs from it is no
  // loss yet.
  bool references = true;
};

// `tuned`: the folder of the run. Leaves the chosen model in the stage's folder "model"; the report is the choice.
void choose_weights(const AdaptConfig& config, const std::string& tuned, const AdaptTests& tests,
                    Stage& stage);

}  // namespace dragoman::internal
