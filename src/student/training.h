// The stages that train: the student, and the same fine-tuned with int8 weights; and the one that quantises.
#pragma once

#include <string>

#include "parallel/processes.h"
#include "student/comparison.h"
#include "student/stage.h"
#include "train/recipe.h"

namespace dragoman::internal {

// Does the stage, or what a larger limit adds to it. Collective.
void train_student(const Recipe& training, Stage& stage, Processes& processes);

// Fine-tunes the student in this folder, whose prepared corpus it shares. Collective.
void tune_student(const Recipe& tuning, const std::string& student, Stage& stage, Processes& processes);

// The student as it is used: quantised, searched greedily and with its shortlist. Of two, the student and the same
// fine-tuned, that with the better BLEU in int8 on `validation`; `tuned` may be empty.
void quantize_student(const std::string& student, const std::string& tuned,
                      const ComparisonSettings& validation, Stage& stage);

}  // namespace dragoman::internal
