// Ensemble: the model that a search asks what comes next, or several that answer together.
//
// Several say the logarithm of the mean of their probabilities. They say the same words, and each reads a source by its
// own pieces. Each keeps keys and values of its own; a row of the targets' caches means the same token to all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/batch.h"
#include "model/partial_generator.h"
#include "model/transformer.h"

namespace dragoman {

using Models = std::vector<Transformer*>;  // on one device, with the same target words

// What a sentence's translations may consist of.
struct AllowedWords {
  std::vector<int32_t> words = {};                // ascending; none: all of the vocabulary
  std::vector<PartialGenerator> generators = {};  // each model's, for these words
};

// A hypothesis that is to be taken a token further.
struct OpenRow {
  int32_t last;                   // its newest token
  std::span<const int32_t> rows;  // of the caches, for each token that it read; the last is the newest one's
  std::span<const std::vector<int32_t>> source_rows;  // of each model, for each token of its source
  const AllowedWords* allowed;  // rows of one sentence stand together; all sentences have all words, or none
};

class Ensemble {
 public:
  explicit Ensemble(const Models& models);

  Device& device() const { return members_[0].model->device; }
  AllowedWords allow(std::vector<int32_t> words) const;

  // Sources as the model of this number reads them. `rows`: of its cache of them, for each token.
  void encode(size_t index, const PackedSide& sources, std::span<const int32_t> rows);
  // log p of what comes next, a row each. Column i is word i, or allowed->words[i]; beyond those all is −∞.
  Tensor next_log_probabilities(std::span<const OpenRow> rows);
  // The `count` likeliest of each of those rows, as Kernels::top has them. One model needs no row of log-probabilities
  // for it.
  std::vector<Element> top_next(std::span<const OpenRow> rows, int64_t count);
  // Whether every row so far had a number: damaged weights make rows without one, of which nothing is the likeliest.
  bool finite() const { return finite_; }

 private:
  struct Member {
    Transformer* model;
    Cache sources, targets;
  };

  Tensor decode_next(size_t index, std::span<const OpenRow> rows);
  Tensor logits_of(size_t index, std::span<const OpenRow> rows);

  std::vector<Member> members_;
  bool finite_ = true;
};

}  // namespace dragoman
