#include "convert/exported_tensor.h"

#include <numeric>

#include "tensor/array.h"

namespace dragoman::internal {
namespace {

ExportedTensor widened(Device& device, const LowPrecisionMatrix& matrix) {
  std::vector<int32_t> columns(static_cast<size_t>(matrix.columns));
  std::iota(columns.begin(), columns.end(), 0);
  const Array<int32_t> all(device.pool, columns);
  const Tensor rows(device.pool, matrix.columns, matrix.rows);
  device.kernels.widen_columns(device.context, matrix, all.data(), rows.matrix());
  const HostView<const float> values = rows.values();
  ExportedTensor tensor = {.shape = {matrix.columns, matrix.rows}, .values = {values.begin(), values.end()}};
  if (matrix.precision == Precision::int8) {
    const HostView<const float> scales(device.memory, {matrix.scales, static_cast<size_t>(matrix.columns)});
    tensor.scales.assign(scales.begin(), scales.end());
  }
  return tensor;
}

}  // namespace

ExportedTensor exported(Device& device, const Parameter& parameter) {
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (parameter.value.is_low_precision()) return widened(device, parameter.value.storage().low_precision);
  const HostView<const float> values = parameter.value.values();
  if (parameter.role == Role::plain && !parameter.constant && rows == 1)
    return {.shape = {columns}, .values = {values.begin(), values.end()}};
  if (parameter.role != Role::weight)
    return {.shape = {rows, columns}, .values = {values.begin(), values.end()}};
  ExportedTensor tensor = {.shape = {columns, rows}, .values = {}};
  tensor.values.reserve(static_cast<size_t>(rows * columns));
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) tensor.values.push_back(values.data()[row * columns + column]);
  return tensor;
}

}  // namespace dragoman::internal
