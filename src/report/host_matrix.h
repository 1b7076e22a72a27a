// A matrix of floats in the host's memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::internal {

struct HostMatrix {
  std::vector<float> values;
  int64_t rows = 0, columns = 0;

  std::span<const float> row(int64_t r) const {
    return std::span(values).subspan(static_cast<size_t>(r * columns), static_cast<size_t>(columns));
  }
};

inline HostMatrix on_host(const Tensor& whole_rows) {
  const HostView<const float> values = whole_rows.values();
  return {{values.begin(), values.end()}, whole_rows.rows(), whole_rows.columns()};
}

}  // namespace dragoman::internal
