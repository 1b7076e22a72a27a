// Synthetic corpora, generated on the fly: tasks that show whether a model learns at all.
#pragma once

#include <cstdint>

#include "data/batch_source.h"
#include "data/corpus_config.h"

namespace dragoman::internal {

// Sentences of `length` symbols from 1 to symbols − 1, of which the first is always the start symbol 1. The target is
// the source (the copy task of the Annotated Transformer), or has the symbols after the first reversed or sorted. There
// is no end token.
struct SyntheticTask {
  static constexpr int32_t start = 1, end = -1;

  Synthetic kind = Synthetic::copy;
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;  // a batch
  uint64_t seed = 1;

  // Batch number `index` of an endless sequence.
  Batch batch(uint64_t index) const;
};

// Epochs of `batches` new batches each.
class SyntheticBatches : public BatchSource {
 public:
  SyntheticBatches(const SyntheticTask& task, int64_t batches) : task_(task), batches_(batches) {}

  std::optional<Batch> next() override;
  bool skip() override;
  DataPosition position() const override { return position_; }
  void seek(DataPosition position) override { position_ = position; }
  int64_t batches_in_epoch() const override { return batches_; }

 private:
  SyntheticTask task_;
  int64_t batches_;
  DataPosition position_;
};

}  // namespace dragoman::internal
