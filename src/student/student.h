// Making a student: from parallel text and a teacher to a small, fast model (Kim and Rush, 2016; Bogoychev et al.,
// 2020), in stages, each in a folder inside the student's:
//
//   clean        the parallel text that is worth learning from, and what is held out
//   validation   the validation set as plain text, where nothing is held out
//   backward     text of the target language with sources that a backward model makes, where there is one
//   tagged       these sources, each behind a tag
//   taught       the clean sources as the teacher translates them
//   monolingual  further text of the source language, and how the teacher translates it, where there is any
//   student      the model trained on all that, in fp32
//   tuned        the same, fine-tuned with int8 weights
//   int8         the better one of them, quantised, with its shortlist: what is used
//   comparison   teacher and student on the test set: a page
//
// One command at a time works in the folder. Everything goes on where it was stopped (stage.h), to the same bits.
// Several processes share what takes long: the translations and the training.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "parallel/processes.h"
#include "student/config.h"
#include "text/language_identifier.h"

namespace dragoman::internal {

// What the stages report, for display: an object for each that has something to tell. Collective; null in all processes
// but the first. `identifier`: that of clean.detector, where it is set.
nlohmann::ordered_json make_student(const StudentRecipe& recipe, const std::string& folder,
                                    Processes& processes = single_process(),
                                    const LanguageIdentifier* identifier = nullptr);

}  // namespace dragoman::internal
