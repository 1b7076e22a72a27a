// Standard input ("-") among the files of a corpus: a corpus is read several times, standard input once, so that its
// bytes are kept in a file meanwhile.
#pragma once

#include <string>

#include "data/corpus_config.h"

namespace dragoman {

bool reads_standard_input(const DataConfig& data);

// The corpus with a file of the folder in place of standard input, for as long as this lives.
class CorpusOfFiles {
 public:
  // Reads standard input to its end, where the corpus names it.
  CorpusOfFiles(const DataConfig& data, const std::string& folder);
  ~CorpusOfFiles();
  CorpusOfFiles(const CorpusOfFiles&) = delete;
  CorpusOfFiles& operator=(const CorpusOfFiles&) = delete;

  const DataConfig& data() const { return data_; }

 private:
  DataConfig data_;
  std::string path_;
};

}  // namespace dragoman
