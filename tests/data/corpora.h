// Small corpora for tests: files in a temporary folder.
#pragma once

#include <string>

#include "data/corpus_config.h"
#include "temporary_folder.h"
#include "text/toy_text.h"
#include "text/vocabulary_config.h"

namespace dragoman::internal {

inline DataConfig toy_data(const TemporaryFolder& folder, const ToyText& text,
                           const std::string& name = "toy") {
  DataConfig data;
  data.source = {folder.write(name + ".source", text.source)};
  data.target = {folder.write(name + ".target", text.target)};
  return data;
}

inline VocabularyConfig toy_vocabulary() { return {.size = 60}; }

}  // namespace dragoman::internal
