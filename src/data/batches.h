// Packed batches of a prepared corpus.
//
// An epoch goes through the shards in random order, and through the pairs of each in random order (EpochStream). Of
// that stream, pools of about a hundred batches are sorted by length, cut into batches by the token budget, and the
// batches of a pool shuffled. All of it is a function of (corpus, settings, seed, epoch). Memory holds one shard's
// order and one pool.
//
// batch_tokens bounds the tokens of a batch's larger side, start and end tokens included; a larger pair becomes a batch
// of its own. The decoder reads the target from <s> on and predicts it up to </s>; the source ends with </s> if
// source_eos. Where the vocabularies know languages, each side has its language's token, which is also predicted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/batch_source.h"
#include "data/corpus_config.h"
#include "data/prepare_corpus.h"
#include "text/languages.h"
#include "text/subword_sampling.h"

namespace dragoman::internal {

struct BatchSettings {
  int64_t batch_tokens = 4096;
  uint64_t seed = 1;
  bool source_eos = true;
  bool one_sided = false;  // there are no sources
  bool sort_by_length = true;
  SourceOrder order = SourceOrder::mixed;
  std::vector<double> weights = {};  // one per source; empty: all 1
  double sampling = 0;
  double tags = 0;           // see LoaderSettings
  int64_t max_length = 100;  // in subwords, of a sentence that has been changed
  int64_t pool_batches = 100;
  std::string from = {}, to = {};  // languages, see DataConfig
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

  // Reads only lengths, but of pairs that get tags or whose subwords are sampled, which it makes again.
  void seek(DataPosition position) override;

  // Exact once an epoch has been completed; until then an estimate from the corpus's tokens.
  int64_t batches_in_epoch() const override;

  // The share of padding if each sentence were padded to the longest of its batch, from here to the end of the epoch,
  // or over `max_pairs` pairs. Consumes the batches.
  double padding_share(int64_t max_pairs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// padding_share() of an epoch (its first million pairs), sorted by length and unsorted.
struct PaddingShares {
  double sorted = 0, unsorted = 0;
};
PaddingShares padding_shares(const PreparedCorpus& corpus, const BatchSettings& settings);

// What the model reads around the text of each pair. Throws OptionError for languages that do not fit the vocabularies.
struct PairFrame {
  SourceFrame source;
  StartTokens start;
  int32_t end;

  int64_t source_tokens() const { return std::ssize(source.before) + std::ssize(source.after); }
  int64_t target_tokens() const { return static_cast<int64_t>(start.size()); }
};
PairFrame pair_frame(const Vocabularies& vocabularies, const BatchSettings& settings);

// Batches of all these pairs in their order, for validation. Batch.pairs counts from 0.
std::vector<Batch> batches_of(std::span<const TextPair> pairs, const Vocabularies& vocabularies,
                              const BatchSettings& settings);

}  // namespace dragoman::internal
