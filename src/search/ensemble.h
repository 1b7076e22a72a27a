// Ensemble: the model that a search decodes with, or several whose probabilities are averaged.
//
// All have the same target vocabulary; each may have a source vocabulary, and has keys and values, of its own. A row of
// the targets' caches is the same token to all of them, and to a language model that is fused with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/batch.h"
#include "model/partial_generator.h"
#include "model/transformer.h"
#include "tensor/array.h"

namespace dragoman::internal {

using Models = std::vector<Transformer*>;  // on one device, with the same target words

// A language model whose log-probabilities are added to those of the models, times this weight (shallow fusion:
// Gulcehre et al., 2015).
struct Fusion {
  Transformer* language_model = nullptr;  // null: none
  double weight = 0;
};

// The words that a sentence's translations may consist of.
struct AllowedWords {
  std::vector<int32_t> words = {};                // ascending; none: the whole vocabulary
  std::vector<PartialGenerator> generators = {};  // each model's, for these words, where the device has them
  Array<int32_t> words_there = {};                // else: they are picked from all words' logits
};

// A sentence's neighbours, token by token: the first model's states, and the words that followed them.
struct KnownStates {
  std::vector<int32_t> rows = {};   // of the cache of states
  std::vector<int32_t> words = {};  // columns of the scores, ascending
};

// A hypothesis to be extended by a token.
struct OpenRow {
  int32_t last, position;                             // its newest token, and that token's position
  std::span<const int32_t> rows;                      // of the caches, for the tokens so far, the newest last
  std::span<const std::vector<int32_t>> source_rows;  // of each model, for each token of its source
  const AllowedWords* allowed;                        // rows of one sentence stand together
  int64_t attention_layer =
      0;  // of the first model's decoder, whose attention to the source is wanted; 0: none
  const KnownStates* known = nullptr;  // null, or what is mixed into its probabilities
};

// Scores of what may follow each row of a step. A range of rows has allowed words in all of them or in none.
class NextScores {
 public:
  // The logits of the rows without and, behind them, of those with allowed words.
  NextScores(Device& device, Tensor all_words, Tensor allowed);

  // log p, a row each; to be asked for once. Column i is word i, or allowed->words[i]; beyond those all is −∞.
  Tensor log_probabilities(size_t begin, size_t rows);
  // The `count` most likely of each row, as Kernels::top has them. Of one model no row of log-probabilities is needed.
  void top(size_t begin, size_t rows, int64_t count, Element* largest) const;
  // How much a row that asked for it attends to each token of its source in the first model, the mean over the heads.
  // The first row of a layer waits for the device, and gets those of all.
  std::vector<float> attention(size_t row);

 private:
  friend class Ensemble;

  Tensor range(size_t begin, size_t rows) const;
  void normalise();
  void mix(const NextScores& own, int64_t models);
  void add(const NextScores& own, float weight);

  struct Attended {
    int64_t layer, heads, aligning;                    // the first of the heads, whose mean is asked for
    Tensor weights;                                    // a row for each row of the step
    std::optional<HostView<const float>> values = {};  // of them, once somebody asks
  };
  struct Wanted {
    int64_t layer;
    size_t keys;
  };

  Device& device_;
  Tensor all_words_, allowed_;
  std::vector<Attended> attended_ = {};
  std::vector<Wanted> wanted_ = {};  // of each row
  bool normalised_ = false;          // log-probabilities now, or sums of them
};

class Ensemble {
 public:
  explicit Ensemble(const Models& models, const Fusion& fusion = {});

  Device& device() const { return members_[0].model->device; }
  int64_t width() const { return members_[0].model->config.d_model; }  // of the first model's states
  // Whether a step reads the caches' rows of the tokens that the step before added, and of none before: recurrent units
  // have their state there.
  bool reads_newest_rows_only() const;
  AllowedWords allow(std::vector<int32_t> words) const;

  // Whether the model of this number is a language model, which sees no source.
  bool is_language_model(size_t index) const { return !has_encoder(members_[index].model->config); }
  // Sources in the vocabulary of the model of this number. `rows`: of its cache of sources, for each token. Returns for
  // each token 0, or NaN where the model computed no finite values.
  Tensor encode(size_t index, const PackedSide& sources, std::span<const int32_t> rows);
  // Puts the first model's states for these outputs, after each of their tokens, into rows of a cache of their own.
  // `read`: what the decoder reads.
  void keep_states(const PackedSide& sources, const PackedSide& read, std::span<const int32_t> rows);
  // What may follow these hypotheses, those without allowed words first. A row for which a model computes no finite
  // value has none here either, and column −1 is its most likely one.
  NextScores next(std::span<const OpenRow> rows);

 private:
  struct Member {
    Transformer* model;
    Cache sources, targets;
  };
  struct Scored {
    NextScores scores;
    Tensor states;  // that the scores are made of
  };

  static Member member_of(Transformer& model);
  Tensor decode_next(size_t index, std::span<const OpenRow> rows, AttentionProbe* probe);
  void keep_attention(std::span<const OpenRow> rows, AttentionProbe probe, NextScores& scores) const;
  Scored next_logits(size_t index, std::span<const OpenRow> rows);
  void mix_known(std::span<const OpenRow> rows, const Tensor& states, NextScores& scores);

  Cache known_states_;           // of the first model
  std::vector<Member> members_;  // the last one is the language model, if there is one
  float fusion_weight_ = 0;      // 0: there is none
};

// Whether a row has a finite value: damaged weights make rows without one.
bool has_finite(std::span<const float> row);

}  // namespace dragoman::internal
