#include <numeric>

#include "base/error.h"
#include "ops/ops.h"
#include "ops/trace.h"

namespace dragoman::internal {
namespace {

// The tokens' rows of a low-precision table, as floats.
struct WidenedRows {
  WidenedRows(Device& device, const Tokens& tokens, const LowPrecisionMatrix& table)
      : rows(device.pool, tokens.count(), table.rows), ids(device.pool, tokens.count()) {
    device.kernels.widen_columns(device.context, table, tokens.ids.data(), rows.matrix());
    const HostView<int32_t> numbers = ids.new_values();
    std::iota(numbers.begin(), numbers.end(), 0);
  }

  Tensor rows;
  Array<int32_t> ids;
};

}  // namespace

Tensor embed(Pass& pass, const Tokens& tokens, const Tensor& table, const Tensor& positions,
             const EmbedOptions& options) {
  CHECK(!positions || tokens.positions <= positions.rows(), "{} positions of {}", tokens.positions,
        positions.rows());
  CHECK(!positions || table.columns() == positions.columns(), "width {} and {}", table.columns(),
        positions.columns());
  Device& device = pass.device;
  const float scale = options.scale;
  const bool zero_start = options.zero_start;
  const ConstMatrix added = positions ? ConstMatrix(positions) : ConstMatrix{};
  const Dropout dropout = pass.dropout(options.dropout, tokens.rows);
  const Tensor y(device.pool, tokens.count(), table.columns());
  if (pass.trace != nullptr) pass.trace->embeddings.push_back({table, positions, options, y});
  if (table.is_low_precision()) {
    const WidenedRows widened(device, tokens, table.storage().low_precision);
    device.kernels.embed(device.context, widened.ids.data(), tokens.rows.data(), widened.rows, added, scale,
                         zero_start, dropout, y.matrix());
    return y;
  }
  device.kernels.embed(device.context, tokens.ids.data(), tokens.rows.data(), table, added, scale, zero_start,
                       dropout, y.matrix());

  if (pass.tape == nullptr) return y;
  const Tensor learned = positions && positions.has_gradient() ? positions : Tensor();
  pass.tape->record({&table, &learned}, [&device, &tokens, table, learned, y, scale, zero_start, dropout] {
    device.kernels.embed_backward(device.context, tokens.ids.data(), tokens.rows.data(), y.gradient(), scale,
                                  zero_start, dropout, table.gradient(),
                                  learned ? learned.gradient() : Matrix{});
  });
  return y;
}

}  // namespace dragoman::internal
