// The first stage: the pairs that the student is to learn from, as files of one sentence per line. And how further text
// of one language is cleaned.
#pragma once

#include <string>
#include <vector>

#include "data/cleaning.h"
#include "data/corpus_config.h"
#include "data/preparation.h"
#include "student/stage.h"

namespace dragoman::internal {

// The files in the stage's folder.
struct CleanCorpus {
  std::string source, target;              // the pairs that are kept
  std::string valid_source, valid_target;  // those that are held out; empty if none are
};

// Does the stage.
void clean_corpus(const DataConfig& data, const CleaningSettings& settings, const CleanCorpus& files,
                  Stage& stage);

// The lines of text of these files, each once; what it reports.
nlohmann::ordered_json clean_monolingual(const std::vector<std::string>& files, const std::string& out,
                                         const Preparation& work);

// All files that the stage reads.
std::vector<std::string> files_of(const DataConfig& data);

}  // namespace dragoman::internal
