// BatchSource: where training gets its batches, one after the other, epoch after epoch.
//
// The batches of an epoch are a pure function of (corpus, settings, seed, epoch): number `index` of an epoch is the
// same whenever and by whomever it is asked for. (epoch, index) is the data position that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <optional>

#include "data/batch.h"

namespace dragoman {

struct DataPosition {
  int64_t epoch = 0;
  int64_t index = 0;  // of the next batch in its epoch
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // The batch at the position, which moves on; nothing where the epoch has ended: the position is then at the
  // beginning of the next one.
  virtual std::optional<Batch> next() = 0;

  // The same without the batch, which somebody else takes. False where the epoch has ended.
  virtual bool skip() = 0;

  virtual DataPosition position() const = 0;
  virtual void seek(DataPosition position) = 0;

  // How many batches the present epoch has, as far as that is known (for showing progress); 0: it is not.
  virtual int64_t batches_in_epoch() const = 0;
};

}  // namespace dragoman
