// What making a student will take here: the stages, how long each is likely to need, and the disk.
//
// Speeds are measured for a moment: the teacher translates a few sentences, the student's model is trained for a few
// updates of random sentences. Of stages that are done nothing is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "student/config.h"

namespace dragoman::internal {

struct PlannedStage {
  std::string name, what;
  bool done = false;
  double seconds = 0;  // 0: moments; below 0: nothing ends it but validation, which is not foreseen
  double bytes = 0;    // of its outputs
};

// `processes`: that share the translations.
std::vector<PlannedStage> plan_student(const StudentRecipe& recipe, const std::string& folder,
                                       int processes = 1);

// As a table for a terminal, with the sums, and the space that there is where the folder will be.
std::string plan_table(const std::vector<PlannedStage>& stages, const std::string& folder);

}  // namespace dragoman::internal
