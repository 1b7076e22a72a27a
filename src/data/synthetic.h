// Corpora that are made up as they are needed: tasks that show whether a model learns at all.
#pragma once

#include <cstdint>

#include "data/batch_source.h"
#include "data/corpus_config.h"

namespace dragoman {

// Sentences of `length` symbols of 1 … symbols − 1, of which the first is always the start symbol 1. The target is
// the source (the Annotated Transformer's copy task); or its symbols after the first in reverse; or sorted. There is
// no end mark.
struct SyntheticTask {
  Synthetic kind = Synthetic::copy;
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;  // a batch
  uint64_t seed = 1;

  // Batch number `index` of all that there could be.
  Batch batch(uint64_t index) const;
};

// Epochs of `batches` each, none of which comes again.
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

}  // namespace dragoman
