// SavedModel: a model's folder made ready for translating, or several that translate together.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/held_weights.h"
#include "search/ensemble.h"
#include "text/vocabulary.h"

namespace dragoman {

struct SavedModel {
  // An Error names the file that is missing, damaged, or does not belong to the others.
  SavedModel(const std::string& folder, const Kernels& kernels, int threads,
             WantedPrecision precision = WantedPrecision::as_saved);

  // Another model of the same vocabularies, to be asked together with the first one.
  void add(const std::string& folder, WantedPrecision precision = WantedPrecision::as_saved);
  Models models();

  const std::string folder;
  Vocabularies vocabularies;
  Device device;
  Transformer model;
  std::vector<std::unique_ptr<Transformer>> others;
  bool source_eos;        // sources were learnt with their end mark
  int64_t max_length;     // pieces of the longest sentence that was learnt from, without its end mark
  int64_t max_positions;  // tokens that the model has positions for

  // What the encoder reads; empty where the text has no piece at all.
  std::vector<int32_t> encode_source(std::string_view text) const;
};

// Throws the Error for a model that computes no numbers.
[[noreturn]] void throw_not_finite(const SavedModel& model);

}  // namespace dragoman
