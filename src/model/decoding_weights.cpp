#include "model/decoding_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "base/error.h"
#include "kernels/low_precision.h"
#include "model/low_precision_file.h"
#include "model/weights.h"
#include "model/weights_file.h"

namespace dragoman::internal {
namespace {

constexpr size_t row_alignment = 64;

Precision wanted_precision(const std::string& path, Precision saved, RequestedPrecision wanted) {
  const Precision chosen = chosen_precision(wanted, saved);
  if (saved != Precision::fp32 && saved != chosen) {
    throw Error("{} holds {} weights, which cannot become {}: use the model that they were made from", path,
                name_of(saved), name_of(chosen));
  }
  return chosen;
}

void check_nothing_else(const WeightsFile& file, const Parameters& parameters, Precision saved) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters.list()) {
    names.push_back(parameter.name);
    if (saved == Precision::int8 && parameter.role != Role::plain) names.push_back(scales_name(parameter));
  }
  file.check_names(names);
}

// What the host has of a parameter before the device gets it: floats, or a matrix in low precision.
struct HostWeights {
  std::span<const float> floats;
  LowPrecisionMatrix low_precision = {};
  std::shared_ptr<const void> owner = nullptr;  // unless they are the file's
};

HostWeights mapped(const WeightsFile& weights, const Parameter& parameter, Precision saved) {
  if (saved == Precision::fp32 || parameter.role == Role::plain) {
    WeightsFile::Values values = weights.values(parameter);
    return {.floats = values.floats, .owner = std::move(values.owner)};
  }
  const SafetensorsFile& file = weights.with(parameter.name);
  const ConstMatrix operand = operand_of(parameter, nullptr);
  LowPrecisionMatrix low_precision = {saved, nullptr, nullptr, operand.rows, operand.columns};
  low_precision.data = file.bytes(parameter.name, low_precision_dtype(saved),
                                  low_precision_shape(saved, operand), row_alignment);
  if (saved == Precision::int8)
    low_precision.scales = file.floats(scales_name(parameter), 1, operand.columns).data();
  return {.floats = {}, .low_precision = low_precision};
}

void check_finite(const std::string& path, const std::string& name, std::span<const float> values) {
  if (std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) return;
  throw Error(
      "{}: {} contains non-finite values: the file is damaged, or its training failed; use another one", path,
      name);
}

// Small tensors are always checked. Weights in floats are if they will be rounded, since low precision cannot
// represent non-finite values and would hide them; if they stay mapped, no page is read before it is needed.
void check_finite(const std::string& path, const Parameter& parameter, const HostWeights& host,
                  bool to_be_rounded) {
  const LowPrecisionMatrix& matrix = host.low_precision;
  if (matrix.scales != nullptr)
    check_finite(path, scales_name(parameter), {matrix.scales, static_cast<size_t>(matrix.columns)});
  if (to_be_rounded || parameter.role == Role::plain) check_finite(path, parameter.name, host.floats);
}

std::shared_ptr<void> new_memory(size_t bytes) {
  void* const memory =
      std::aligned_alloc(row_alignment, (bytes + row_alignment - 1) / row_alignment * row_alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, std::free};
}

// The device's own pointer to host memory with this owner, kept as long as the parameters.
template <class T>
T* adopted(Device& device, Parameters& parameters, const std::shared_ptr<const void>& owner, const T* host,
           size_t count) {
  auto memory = device.memory.adopt({owner, host}, count * sizeof(T));
  T* const data = const_cast<T*>(static_cast<const T*>(memory.get()));
  parameters.keep(std::move(memory));
  return data;
}

void adopt(Device& device, Parameters& parameters, const Parameter& parameter,
           const std::shared_ptr<const void>& owner, const HostWeights& host) {
  Storage& storage = parameter.value.storage();
  LowPrecisionMatrix matrix = host.low_precision;
  if (matrix.data == nullptr) {
    // Without gradients nothing writes to weights.
    storage.data = adopted(device, parameters, owner, host.floats.data(), host.floats.size());
    return;
  }
  const auto size = static_cast<size_t>(low_precision_size(matrix.precision, matrix.rows, matrix.columns));
  matrix.data = adopted(device, parameters, owner, matrix.data, size);
  if (matrix.scales != nullptr)
    matrix.scales = adopted(device, parameters, owner, matrix.scales, static_cast<size_t>(matrix.columns));
  storage.low_precision = matrix;
  storage.data = nullptr;
}

// Rounds the floats into memory of their own.
void round_weights(CpuContext& host_context, Device& device, Parameters& parameters,
                   const Parameter& parameter, std::span<const float> floats, Precision precision) {
  const ConstMatrix operand = operand_of(parameter, floats.data());
  const int64_t size = low_precision_size(precision, operand.rows, operand.columns);
  const auto scales = precision == Precision::int8 ? static_cast<size_t>(operand.columns) : 0;
  const std::shared_ptr<void> memory = new_memory(static_cast<size_t>(size) + scales * sizeof(float));
  auto* const data = static_cast<unsigned char*>(memory.get());
  adopt(device, parameters, parameter, memory,
        {{},
         to_low_precision(host_context, precision, operand, data,
                          scales > 0 ? reinterpret_cast<float*>(data + size) : nullptr)});
}

}  // namespace

Precision chosen_precision(RequestedPrecision wanted, Precision saved) {
  switch (wanted) {
    case RequestedPrecision::fp32:
      return Precision::fp32;
    case RequestedPrecision::bf16:
      return Precision::bf16;
    case RequestedPrecision::int8:
      return Precision::int8;
    case RequestedPrecision::as_saved:
      break;
  }
  return saved;
}

void round_weights_to_int8(CpuContext& host, Parameters& parameters) {
  parameters.changed();
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) continue;
    const HostView<float> values = parameter.value.writable_values();
    round_to_int8(host, operand_of(parameter, values.data()), values.data());
  }
}

void quantize_weights(Device& device, Parameters& parameters, Precision precision) {
  parameters.changed();
  CpuContext host(device.context.threads());
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) continue;
    const HostView<const float> floats = parameter.value.values();
    round_weights(host, device, parameters, parameter, floats.span(), precision);
  }
}

void map_weights(Device& device, const std::string& path, Parameters& parameters, RequestedPrecision wanted,
                 bool verify) {
  const auto file = std::make_shared<const WeightsFile>(path);
  const Precision saved = file->precision(), chosen = wanted_precision(path, saved, wanted);
  const bool rounds = chosen != saved;
  check_nothing_else(*file, parameters, saved);
  std::vector<HostWeights> all;
  for (const Parameter& parameter : parameters.list()) all.push_back(mapped(*file, parameter, saved));
  if (verify) file->verify(device.context.threads());
  for (size_t i = 0; i < all.size(); ++i) check_finite(path, parameters.list()[i], all[i], rounds);
  CpuContext host(rounds ? device.context.threads() : 1);
  for (size_t i = 0; i < all.size(); ++i) {
    const Parameter& parameter = parameters.list()[i];
    if (rounds && parameter.role != Role::plain) {
      round_weights(host, device, parameters, parameter, all[i].floats, chosen);
    } else {
      adopt(device, parameters, parameter, all[i].owner ? all[i].owner : file, all[i]);
    }
  }
  parameters.changed();
}

void copy_weights(const Parameters& original, Device& device, Parameters& copy) {
  CHECK(original.list().size() == copy.list().size(), "{} parameters are copied to {}",
        original.list().size(), copy.list().size());
  const auto copied = [&]<class T>(const T* values, size_t count) -> T* {
    const std::shared_ptr<void> host = new_memory(count * sizeof(T));
    original.memory().download(host.get(), values, count * sizeof(T));
    return adopted(device, copy, host, static_cast<const T*>(host.get()), count);
  };
  for (size_t i = 0; i < copy.list().size(); ++i) {
    const Parameter& from = original.list()[i];
    Storage& to = copy.list()[i].value.storage();
    CHECK(from.name == copy.list()[i].name && from.size() == copy.list()[i].size(), "{} is copied to {}",
          from.name, copy.list()[i].name);
    LowPrecisionMatrix matrix = from.value.storage().low_precision;
    if (matrix.data == nullptr) {
      to.data = copied(from.value.data(), static_cast<size_t>(from.size()));
      continue;
    }
    matrix.data = copied(
        matrix.data, static_cast<size_t>(low_precision_size(matrix.precision, matrix.rows, matrix.columns)));
    if (matrix.scales != nullptr) matrix.scales = copied(matrix.scales, static_cast<size_t>(matrix.columns));
    to.low_precision = matrix;
  }
}

void write_decoding_weights(const std::string& path, const Parameters& parameters) {
  std::vector<TensorEntry> low_precision, plain;  // in this order, all of the first are aligned to 64 bytes
  std::vector<HostView<const float>> floats;
  std::vector<HostView<const unsigned char>> bytes;
  Precision precision = Precision::fp32;
  const auto add_floats = [&](const std::string& name, std::vector<int64_t> shape,
                              std::span<const float> values) {
    floats.emplace_back(parameters.memory(), values);
    plain.push_back({name, Dtype::f32, std::move(shape), std::as_bytes(floats.back().span())});
  };
  for (const Parameter& parameter : parameters.list()) {
    const LowPrecisionMatrix& matrix = parameter.value.storage().low_precision;
    if (matrix.data == nullptr) {
      add_floats(parameter.name, shape_of(parameter),
                 {parameter.value.data(), static_cast<size_t>(parameter.size())});
      continue;
    }
    precision = matrix.precision;
    const auto size = static_cast<size_t>(low_precision_size(precision, matrix.rows, matrix.columns));
    bytes.emplace_back(parameters.memory(), std::span(matrix.data, size));
    low_precision.push_back({parameter.name, low_precision_dtype(precision),
                             low_precision_shape(precision, operand_of(parameter, nullptr)),
                             std::as_bytes(bytes.back().span())});
    if (matrix.scales != nullptr)
      add_floats(scales_name(parameter), {matrix.columns},
                 {matrix.scales, static_cast<size_t>(matrix.columns)});
  }
  low_precision.insert(low_precision.end(), plain.begin(), plain.end());
  write_safetensors(path, low_precision_metadata(precision), low_precision);
}

}  // namespace dragoman::internal
