// Prepares a corpus: from the files named in [data] to vocabularies and shards in a folder.
//
// The folder contains prepared.json (inputs and settings, counts, length statistics), source.spm and target.spm or
// shared.spm, shard-000, ..., links-000, ... for guided alignment, and held-out.source and held-out.target. It is
// written under another name and renamed when complete. It is reused if its inputs (path, size, modification time)
// and settings are unchanged; for standard input only the settings count. Two processes that prepare the same folder
// take turns. Memory does not grow with the corpus, and the bytes written do not depend on the number of threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/corpus.h"
#include "data/corpus_config.h"
#include "data/shards.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct PreparedCorpus {
  Vocabularies vocabularies;
  std::vector<Shard> shards = {};
  // Of each shard's pairs, see links.h; empty unless it was prepared with them.
  std::vector<Shard> links = {};
  // The index of each source's first pair, then the number of pairs.
  std::vector<uint64_t> source_begins = {};
  CorpusCounts counts = {};
  nlohmann::json report = {};  // counts, vocabularies, lengths: for metrics.jsonl
  bool was_there = false;      // reused as it was
};

// The folder of the prepared corpus inside a model folder.
std::string prepared_folder(const std::string& model_folder);

// Whether a corpus is prepared with the links of its pairs.
enum class Links { none, learned };

PreparedCorpus prepare_corpus(const DataConfig& data, const VocabularyConfig& vocabulary,
                              const std::string& folder, int threads, const std::function<bool()>& stop = {},
                              Links links = Links::none);

// Opens what another process has prepared, without looking at the corpus's files. Like prepare_corpus it reads and
// verifies all shards, on this many threads: an Error names the damaged one.
PreparedCorpus prepared_corpus(const std::string& folder, int threads);

// The validation set as text: data.valid_source and data.valid_target, or data.valid_text, else the
// held-out pairs.
std::vector<TextPair> validation_pairs(const DataConfig& data, const std::string& folder);

}  // namespace dragoman::internal
