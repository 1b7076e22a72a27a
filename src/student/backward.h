// Back-translation (Sennrich et al., 2016): text of the target language with sources that a backward model makes.
//
// The sources are sampled, not searched for: what varies teaches more (Edunov et al., 2018). A sample depends on its
// sentence alone, so that stops change nothing. Each source has a tag in front, by which the student tells it from
// people's (Caswell et al., 2019): a stage of its own, so that another tag costs no translations.
#pragma once

#include "dragoman/options.h"
#include "parallel/processes.h"
#include "student/stages.h"

namespace dragoman::internal {

class Stage;

// How it is sampled.
dragoman::Options backward_search();

// Does the stage. Collective.
void translate_back(const StudentRecipe& recipe, const BackTranslations& files, Stage& stage,
                    Processes& processes);

// The same, of the first process alone.
void tag_sources(const std::string& tag, const BackTranslations& files, Stage& stage);

}  // namespace dragoman::internal
