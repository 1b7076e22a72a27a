// The recipe of a student: what [student] says, and the tables of a training recipe, whose [data] are what the student
// learns from and whose other tables are the student's own.
#pragma once

#include <algorithm>
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
  // Files of target text, which the backward models translate into source text.
  std::vector<std::string> monolingual_target, backward;
  std::string backward_tag = "<BT>";
  double backward_share = 0.3;
  int64_t beam = 8;
  int64_t candidates = 8;    // that the teacher finds for a source
  int64_t translations = 4;  // how many of these are taught at most
  int64_t int8_steps = 500;
  std::vector<std::string> test_source, test_target;

  int64_t taught_translations() const { return std::min(translations, candidates); }
};

// What cleaning reads besides the pairs.
struct CleaningModels {
  std::string detector, score_model;
  bool backward = false;  // the score model translates targets into sources
};

struct StudentRecipe {
  StudentConfig student;
  CleaningRules cleaning;
  CleaningModels cleaning_models;
  Recipe training;
};

void declare(Options& options, StudentRecipe& recipe);

// Sets what the size says, of the options that were not given.
void take_size(Options& options, StudentSize size);

// Throws OptionError naming the first key with an invalid value.
void validate(const StudentRecipe& recipe);

}  // namespace dragoman::internal
