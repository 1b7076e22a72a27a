// The stages of a student: where their outputs are, and what each of them depends on.
//
// All of it follows from the recipe, the student's folder, and the outputs of earlier stages: inputs are to be asked
// for once those are done.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "student/config.h"
#include "student/corpus.h"
#include "student/evaluation_text.h"

namespace dragoman::internal {

CleanCorpus clean_files(const std::string& folder);

ValidationText validation_text(const std::string& folder);

// Pairs whose source was translated back; empty where the recipe has no backward model.
struct BackTranslations {
  std::string target, translated, source;  // `source` is `translated` with tags
};
BackTranslations backward_files(const StudentRecipe& recipe, const std::string& folder);

// The teacher's translations of the clean pairs' sources: as many files as translations of a source are taught.
std::vector<std::string> taught_files(const StudentRecipe& recipe, const std::string& folder);

// Further text of the source language, each line once, and the same of it; empty where the recipe names none.
struct MonolingualText {
  std::string source;
  std::vector<std::string> taught;
};
MonolingualText monolingual_files(const StudentRecipe& recipe, const std::string& folder);

// The run that trains the student on all of these; and the one that fine-tunes it with int8 weights.
Recipe training_recipe(const StudentRecipe& recipe, const std::string& folder);
Recipe tuning_recipe(Recipe training, int64_t steps);

// Before a run in this folder goes on: gives the files that it reads the names that they have now. They may have been
// renamed, or moved with all of the student, which the run itself would refuse.
void rename_files_of_run(const Recipe& recipe, const std::string& folder);

// Of files and models the inputs have the contents, and not the names.
nlohmann::ordered_json clean_inputs(const StudentRecipe& recipe);
nlohmann::ordered_json validation_inputs(const StudentRecipe& recipe);
nlohmann::ordered_json backward_inputs(const StudentRecipe& recipe);
nlohmann::ordered_json tagged_inputs(const StudentRecipe& recipe, const std::string& folder);
nlohmann::ordered_json taught_inputs(const StudentRecipe& recipe, const std::string& folder);
nlohmann::ordered_json monolingual_inputs(const StudentRecipe& recipe);
nlohmann::ordered_json student_inputs(const Recipe& training);
nlohmann::ordered_json tuned_inputs(const Recipe& tuning, const std::string& folder);
nlohmann::ordered_json int8_inputs(const StudentRecipe& recipe, const Recipe& training,
                                   const std::string& folder);
// Of a run: the options that may change while it goes on, such as its length. The student's stage reports those that it
// was done with.
nlohmann::ordered_json limits_of(const Recipe& training);

// Checksums of all.
nlohmann::ordered_json models_checksum(const std::vector<std::string>& folders);

// Which of them are done, and remain as they are.
struct DoneStages {
  bool clean = false, validation = false, backward = false, tagged = false, taught = false,
       monolingual = false, student = false, tuned = false, int8 = false;
};
DoneStages done_stages(const StudentRecipe& recipe, const std::string& folder);

}  // namespace dragoman::internal
