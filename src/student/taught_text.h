// The stages in which the teacher translates: the sources of the clean pairs, and further text of the source language.
#pragma once

#include "parallel/processes.h"
#include "student/config.h"
#include "student/stage.h"
#include "student/stages.h"

namespace dragoman::internal {

// Do the stages. Collective.
void teach_pairs(const StudentRecipe& recipe, const CleanCorpus& corpus,
                 const std::vector<std::string>& taught, Stage& stage, Processes& processes);
void teach_monolingual(const StudentRecipe& recipe, const MonolingualText& files, Stage& stage,
                       Processes& processes);

}  // namespace dragoman::internal
