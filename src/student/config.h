// The recipe of a student: what [student] says, and the tables of a training recipe, whose [data] are what the student
// learns from and whose other tables are the student's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "data/cleaning_rules.h"
#include "train/recipe.h"

namespace dragoman::internal {

// tiny: for phones and pages, at most 3 million parameters beside the embedding. base: as wide as the paper's base
// model. own: what [model] says.
enum class StudentSize { tiny, base, own };

struct StudentConfig {
  std::vector<std::string> teacher;  // folders; several are an ensemble
  StudentSize size = StudentSize::tiny;
  std::vector<std::string> monolingual;  // files of source text, which the teacher translates, too
  int64_t beam = 8;
  int64_t candidates = 8;  // translations of a source with a reference, of which the nearest one is taught
  std::vector<std::string> test_source, test_target;
};

struct StudentRecipe {
  StudentConfig student;
  CleaningRules cleaning;
  Recipe training;
};

void declare(Options& options, StudentRecipe& recipe);

// Sets what the size says, of the options that were not given.
void take_size(Options& options, StudentSize size);

// Throws OptionError naming the first key with an invalid value.
void validate(const StudentRecipe& recipe);

}  // namespace dragoman::internal
