// Packed batches of a prepared corpus.
//
// An epoch goes through the shards in a shuffled order, and through each in an order of its own. Of that stream,
// pools of about a hundred batches are sorted by length and cut into batches by the token budget; the batches of a
// pool come shuffled. All of it is a function of (corpus, settings, seed, epoch). Memory holds one shard's order
// and one pool.
//
// batch_tokens bounds the tokens of a batch's larger side, every mark counted; a pair that is larger makes a batch
// alone. The target is read from <s> on and predicted to </s>; the source ends with </s> if source_eos.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data/batch_source.h"
#include "data/corpus_config.h"
#include "data/prepare_corpus.h"
#include "text/subword_sampling.h"

namespace dragoman {

struct BatchSettings {
  int64_t batch_tokens = 4096;
  uint64_t seed = 1;
  bool source_eos = true;
  bool sort_by_length = true;
  SourceOrder order = SourceOrder::mixed;
  std::vector<double> weights = {};  // of each source; empty: 1
  double sampling = 0;
  int64_t max_length = 100;  // no sampled sentence has more pieces
  int64_t pool_batches = 100;
};
BatchSettings batch_settings(const DataConfig& data, const VocabularyConfig& vocabulary, int64_t batch_tokens,
                             uint64_t seed);

class ShardedBatches : public BatchSource {
 public:
  // The corpus must outlive it.
  ShardedBatches(const PreparedCorpus& corpus, const BatchSettings& settings);
  ~ShardedBatches() override;

  std::optional<Batch> next() override;
  bool skip() override;
  DataPosition position() const override;

  // Reads lengths alone, unless subwords are sampled: then it cuts again what it skips.
  void seek(DataPosition position) override;

  // Exact once an epoch has been walked to its end; before that an estimate from the corpus's tokens.
  int64_t batches_in_epoch() const override;

  // The share that would be padding if each sentence were padded to the longest of its batch, from here to the end of
  // the epoch, or until so many pairs were seen. It uses the batches up.
  double padding_share(int64_t max_pairs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same over an epoch (its first million pairs): sorted by length, and not.
struct PaddingShares {
  double sorted = 0, unsorted = 0;
};
PaddingShares padding_shares(const PreparedCorpus& corpus, const BatchSettings& settings);

// Pairs in their order as batches, for validation. Batch.pairs counts from 0. Nothing is left out.
std::vector<Batch> batches_of(std::span<const TextPair> pairs, const Vocabularies& vocabularies,
                              const BatchSettings& settings);

}  // namespace dragoman
