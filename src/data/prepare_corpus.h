// Preparation: from the files that [data] names to vocabularies and shards in a folder.
//
// The folder holds prepared.json (what it was made from, counts, length statistics), source.spm and target.spm or
// shared.spm, shard-000, ..., and held-out.source and held-out.target. It is made under another name and renamed once
// it is whole; where inputs (path, size, time of change) and settings are unchanged it is used as it stands. Two
// processes that prepare the same folder take turns. Memory does not grow with the corpus. What came from standard
// input has no name to tell it by: it is used as it stands where settings are unchanged.
//
// The bytes do not depend on the number of threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/corpus.h"
#include "data/corpus_config.h"
#include "data/shards.h"
#include "text/vocabulary.h"

namespace dragoman {

struct PreparedCorpus {
  Vocabularies vocabularies;
  std::vector<Shard> shards;
  std::vector<uint64_t> source_begins;  // the index of each source's first pair; then the number of all
  CorpusCounts counts;
  nlohmann::json report;   // counts, vocabularies, lengths: for metrics.jsonl
  bool was_there = false;  // nothing had changed, nothing was done
};

// Where a model's folder has its prepared corpus.
std::string prepared_folder(const std::string& model_folder);

PreparedCorpus prepare_corpus(const DataConfig& data, const VocabularyConfig& vocabulary,
                              const std::string& folder, int threads);

// What another process has prepared there; the files of the corpus are not looked at.
PreparedCorpus prepared_corpus(const std::string& folder);

// The validation set as text: data.valid_source and data.valid_target, else the pairs that were held out.
std::vector<TextPair> validation_pairs(const DataConfig& data, const std::string& folder);

}  // namespace dragoman
