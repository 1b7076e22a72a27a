// What a benchmark on a GPU needs: to wait for it before the clock is read, and its limits, measured in the same run.
#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "kernels/devices.h"
#include "kernels/machine_peaks.h"
#include "ops/products.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

namespace dragoman::internal {

// Until all kernels that were launched are done. A processor's are when they return.
inline void wait_for(Device& device) {
  if (device.memory.is_host_memory()) return;
  const Tensor one(device.pool, 1, 1);
  float value = 0;
  device.memory.download(&value, one.data(), sizeof value);
}

inline Tensor filled(Device& device, int64_t rows, int64_t columns, float value) {
  const Tensor tensor(device.pool, rows, columns);
  device.memory.fill(tensor.matrix(), value);
  return tensor;
}

// With numbers as activations have them: products of equal numbers take less power, so that a GPU computes them faster.
inline Tensor with_random_numbers(Device& device, int64_t rows, int64_t columns) {
  const Tensor tensor(device.pool, rows, columns);
  Random random(1);
  const int64_t some = std::min<int64_t>(rows, 64);
  std::vector<float> numbers(static_cast<size_t>(some * columns));
  for (float& x : numbers) x = static_cast<float>(random.normal());
  for (int64_t r = 0; r < rows; r += some)
    device.memory.upload(tensor.data() + r * columns, numbers.data(),
                         static_cast<size_t>(std::min(some, rows - r) * columns) * sizeof(float));
  return tensor;
}

// Seconds of one call, the best of a few, each of which is launched so often that waiting for it costs nothing.
template <class Body>
double best_seconds(Device& device, const Body& body) {
  constexpr int calls = 10;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    wait_for(device);
    const double start = seconds();
    for (int call = 0; call < calls; ++call) body();
    wait_for(device);
    best = std::min(best, (seconds() - start) / calls);
  }
  return best;
}

// Both measure with growing sizes, until a call takes so long that its start costs nothing.
constexpr double long_enough = 0.005;

// Bytes a second of its memory, by a kernel that reads two arrays and writes one.
inline double measured_gpu_bandwidth(Device& device) {
  constexpr int64_t columns = 1024, most_rows = int64_t{1} << 18;  // a gigabyte for each array
  for (int64_t rows = 1024;; rows *= 2) {
    const Tensor from = filled(device, rows, columns, 1), to = filled(device, rows, columns, 1);
    const double time =
        best_seconds(device, [&] { device.kernels.add(device.context, 1, from, to.matrix()); });
    if (time > long_enough || rows == most_rows)
      return 3 * sizeof(float) * static_cast<double>(rows * columns) / time;
  }
}

// Operations a second of products, of which each operand is used often.
inline double measured_gpu_peak(Device& device, Precision precision) {
  constexpr int64_t most = 4096;
  for (int64_t size = 256;; size *= 2) {
    const Tensor a = with_random_numbers(device, size, 2 * size),
                 b = with_random_numbers(device, 2 * size, 4 * size), c = filled(device, size, 4 * size, 0);
    const Packed packed(device, precision, b);
    const double time = best_seconds(device, [&] { packed.multiply(device, a, c.matrix(), {}); });
    if (time > long_enough || size == most) {
      const auto n = static_cast<double>(size);
      return 2 * n * 2 * n * 4 * n / time;
    }
  }
}

// By what --precision says, on a device or on this machine's processors.
enum class Products { automatic, fp32, tf32, bf16 };

inline const Kernels& table_of(const std::string& device, Products products) {
  const Kernels& table = kernels_of_device(device);
  return products == Products::tf32 ? with_tf32(table) : table;
}

inline Precision precision_on(const Kernels& table, Products products) {
  const bool rounded = products == Products::bf16 || (products == Products::automatic && is_gpu(table));
  return rounded ? Precision::bf16 : Precision::fp32;
}

inline const char* name_on(const Kernels& table, Products products) {
  if (products == Products::tf32 && is_gpu(table)) return "tf32";
  return precision_on(table, products) == Precision::bf16 ? "bf16" : "fp32";
}

}  // namespace dragoman::internal
