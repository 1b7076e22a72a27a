// BatchSource: the batches of training, epoch after epoch.
//
// The batches of an epoch are a pure function of (corpus, settings, seed, epoch): number `index` of an epoch is the
// same whenever and by whichever process it is read. (epoch, index) is the data position that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <optional>

#include "data/batch.h"

namespace dragoman::internal {

struct DataPosition {
  int64_t epoch = 0;
  int64_t index = 0;  // of the next batch in its epoch
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // The batch at the position, which advances. Nothing at the end of the epoch; the position is then at the beginning
  // of the next one.
  virtual std::optional<Batch> next() = 0;

  // Skips a batch that another process takes. False at the end of the epoch.
  virtual bool skip() = 0;

  virtual DataPosition position() const = 0;
  virtual void seek(DataPosition position) = 0;

  // Batches in this epoch, for displaying progress; perhaps an estimate, 0 if unknown.
  virtual int64_t batches_in_epoch() const = 0;
};

}  // namespace dragoman::internal
