#include "ops/pass.h"

#include "base/random.h"

namespace dragoman::internal {

Dropout Pass::dropout(float rate, const Array<RowKey>& rows) {
  const uint64_t key =
      mix(mix(seed, update), ops++);  // counted even if unused, so that later ops keep their masks
  if (tape == nullptr || rate == 0) return {};
  return {.rate = rate,
          .key = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)},
          .rows = rows.data()};
}

}  // namespace dragoman::internal
