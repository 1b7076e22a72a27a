// What a student is measured on: the validation set of its training, and the test set, on which it is compared with its
// teacher.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "student/config.h"
#include "student/stage.h"

namespace dragoman::internal {

// From the files that the recipe names; none where it names none. Throws an Error where one is missing, where they do
// not correspond, or where no pair can be used.
std::vector<TextPair> read_validation_files(const StudentRecipe& recipe);
std::vector<TextPair> read_test_files(const StudentRecipe& recipe);

// The validation set as plain text, whatever the recipe's files are: training has one format for all of its text.
struct ValidationText {
  std::string source, target;
};

// Does the stage.
void write_validation_text(const StudentRecipe& recipe, const ValidationText& files, Stage& stage);

}  // namespace dragoman::internal
