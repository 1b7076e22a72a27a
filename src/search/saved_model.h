// SavedModel: a model's folder made ready for translating, or several that translate together.
//
// Several say the same words, and each reads sources by pieces of its own. The first one's are what lengths of sources
// and outputs, the keys of samples, shortlists, alignments and flags refer to.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/decoding_weights.h"
#include "search/ensemble.h"
#include "text/vocabulary.h"

namespace dragoman {

// How a model reads sources.
struct SourceReader {
  std::shared_ptr<const Vocabulary> vocabulary;
  bool end_mark;       // they were learnt with it
  int64_t max_length;  // pieces of the longest one that was learnt from, without its end mark
};

struct SavedModel {
  // An Error names the file that is missing, damaged, or does not belong to the others.
  SavedModel(const std::string& folder, const Kernels& kernels, int threads,
             WantedPrecision precision = WantedPrecision::as_saved);

  // Another model of the same target vocabulary, to be asked together with the first one.
  void add(const std::string& folder, WantedPrecision precision = WantedPrecision::as_saved);
  Models models();

  const std::string folder;
  Vocabularies vocabularies;
  Device device;
  Transformer model;
  std::vector<std::unique_ptr<Transformer>> others;
  std::vector<SourceReader> readers;  // each model's, the first one's first
  int64_t max_positions;              // tokens that every model has positions for

  // What the first model's encoder reads; empty where the text has no piece at all.
  std::vector<int32_t> encode_source(std::string_view text) const;
};

// The Error for a model that computes non-finite values.
std::string not_finite_message(const SavedModel& model);
[[noreturn]] void throw_not_finite(const SavedModel& model);

}  // namespace dragoman
