// Small corpora for tests: files in a temporary folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// The first sources have two sentences, the others one.
inline ToyText toy_text_of_sentences(int64_t pairs, size_t of_two) {
  ToyText text;
  const std::vector<std::string> lines = toy_text(pairs, 4).source_lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    text.source += lines[i] + (i < of_two ? "? Mi lo" : "") + "\n";
    text.target += lines[i] + "\n";
  }
  return text;
}

inline VocabularyConfig toy_vocabulary() { return {.size = 60}; }

}  // namespace dragoman::internal
