// Standard input ("-") as a file of a corpus. A corpus is read several times but standard input only once, so its bytes
// are kept in a temporary file. It stands here, not in base/, since it spools a corpus: it edits a DataConfig.
#pragma once

#include <string>

#include "data/corpus_config.h"

namespace dragoman::internal {

bool reads_standard_input(const DataConfig& data);

// The corpus with standard input replaced by a file in the folder, which the destructor removes.
class CorpusOfFiles {
 public:
  // Reads standard input to its end if the corpus names it.
  CorpusOfFiles(const DataConfig& data, const std::string& folder);
  ~CorpusOfFiles();
  CorpusOfFiles(const CorpusOfFiles&) = delete;
  CorpusOfFiles& operator=(const CorpusOfFiles&) = delete;

  const DataConfig& data() const { return data_; }

 private:
  DataConfig data_;
  std::string path_;
};

}  // namespace dragoman::internal
