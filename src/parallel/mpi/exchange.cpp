#include "parallel/mpi/exchange.h"

#include <algorithm>
#include <bit>

#include "kernels/low_precision.h"

namespace dragoman::internal {
namespace {

constexpr int64_t floats_per_line = 16;

float widened(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

}  // namespace

void check_mpi(int code, const char* action) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("MPI cannot {}: {}", action, text);
}

void Exchange::start(std::span<float> values, GradientFormat wire) {
  values_ = values;
  wire_ = wire;
  stage_ = Stage::collecting;
  const auto size = static_cast<int64_t>(values.size());
  const auto count = static_cast<size_t>(communicators_.count);
  const int64_t whole = communicators_.count * floats_per_line,
                part = (size + whole - 1) / whole * floats_per_line;
  begins_.resize(count);
  counts_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = std::min(static_cast<int64_t>(i) * part, size);
    begins_[i] = static_cast<int>(begin);
    counts_[i] = static_cast<int>(std::min(part, size - begin));
  }
  const int own = counts_[static_cast<size_t>(communicators_.number)];
  own_counts_.assign(count, own);
  own_begins_.resize(count);
  for (size_t i = 0; i < count; ++i) own_begins_[i] = static_cast<int>(i) * own;
  const size_t arriving = static_cast<size_t>(own) * count;
  const void* from = values.data();
  void* to = nullptr;
  if (wire == GradientFormat::bf16) {
    rounded_.resize(values.size());
    std::ranges::transform(values, rounded_.begin(), to_bf16);
    arrived_rounded_.resize(arriving);
    from = rounded_.data();
    to = arrived_rounded_.data();
  } else {
    arrived_.resize(arriving);
    to = arrived_.data();
  }
  const MPI_Datatype type = wire == GradientFormat::bf16 ? MPI_UINT16_T : MPI_FLOAT;
  check_mpi(MPI_Ialltoallv(from, counts_.data(), begins_.data(), type, to, own_counts_.data(),
                           own_begins_.data(), type, communicators_.collect, &request_),
            "send gradients");
}

void Exchange::advance(bool may_broadcast) {
  if (stage_ == Stage::collecting && !may_broadcast) return;
  int arrived = 0;
  check_mpi(MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE), "exchange gradients");
  if (!arrived) return;
  if (stage_ == Stage::collecting) {
    add_arrived();
    broadcast();
    stage_ = Stage::broadcasting;
  } else if (stage_ == Stage::broadcasting) {
    if (wire_ == GradientFormat::bf16) std::ranges::transform(rounded_, values_.begin(), widened);
    stage_ = Stage::done;
  }
}

// A process's own values are rounded like the others', so that the sum does not depend on the owner.
void Exchange::add_arrived() {
  const auto own = static_cast<size_t>(own_counts_[0]);
  const auto begin = static_cast<size_t>(begins_[static_cast<size_t>(communicators_.number)]);
  float* const sum = values_.data() + begin;
  for (size_t process = 0; process < static_cast<size_t>(communicators_.count); ++process) {
    for (size_t i = 0; i < own; ++i) {
      const size_t at = process * own + i;
      const float value = wire_ == GradientFormat::bf16 ? widened(arrived_rounded_[at]) : arrived_[at];
      sum[i] = process == 0 ? value : sum[i] + value;
    }
  }
  if (wire_ == GradientFormat::bf16)
    std::transform(sum, sum + own, rounded_.begin() + static_cast<std::ptrdiff_t>(begin), to_bf16);
}

void Exchange::broadcast() {
  const bool bf16 = wire_ == GradientFormat::bf16;
  void* const all = bf16 ? static_cast<void*>(rounded_.data()) : values_.data();
  check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts_.data(), begins_.data(),
                            bf16 ? MPI_UINT16_T : MPI_FLOAT, communicators_.broadcast, &request_),
            "broadcast sums of gradients");
}

}  // namespace dragoman::internal
