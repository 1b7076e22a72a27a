// Making a student: from parallel text and a teacher to a small, fast model (Kim and Rush, 2016; Bogoychev et al.,
// 2020), in stages, each in a folder inside the student's:
//
//   clean      the parallel text that is worth learning from, and what is held out
//   taught     its sources, and further ones, as the teacher translates them
//   student    the model trained on that, in fp32
//   int8       the same, quantised, with its shortlist: what is used
//   comparison teacher and student on the test set: a page
//
// Everything goes on where it was stopped (stage.h), to the same bits.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "student/config.h"

namespace dragoman::internal {

// What the stages report, for display: an object for each of clean, taught and comparison.
nlohmann::ordered_json make_student(const StudentRecipe& recipe, const std::string& folder);

}  // namespace dragoman::internal
