#include "api/engine_options.h"

namespace dragoman::internal {

void declare_threads(Section& own, int64_t& threads) {
  own.add("threads", threads, "threads to use; 0: all processors", at_least(0).at_most(1024));
}

void declare_batch(Section& own, int64_t& batch) {
  own.add("batch", batch, "sentences per batch", at_least(1).at_most(10'000));
}

void declare_workers(Section& own, int64_t& workers) {
  own.add("workers", workers,
          "batches to translate in parallel, sharing the threads; 0: one per thread, up to 8",
          at_least(0).at_most(1024));
}

}  // namespace dragoman::internal
