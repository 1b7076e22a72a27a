#include "parallel/gradient_sum.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// Large enough that a process's part of a slice is worth a message, small enough that the first sum starts early.
// Messages between GPUs are faster, while a slice takes as long to start.
int64_t default_slice(const Processes& processes) {
  const int64_t least = processes.sums_device_memory() ? 1 << 22 : 1 << 20;
  return std::max(least, processes.count() * (int64_t{1} << 14));
}

struct Slices {
  int64_t first, last;
};

Slices slices_of(const Parameter& parameter, int64_t slice) {
  return {parameter.offset / slice, (parameter.offset + parameter.size() - 1) / slice};
}

}  // namespace

GradientSum::GradientSum(const Parameters& parameters, Processes& processes, GradientFormat wire,
                         int64_t slice)
    : parameters_(parameters),
      processes_(processes),
      wire_(wire),
      slice_(slice > 0 ? slice : default_slice(processes)) {
  const auto size = static_cast<int64_t>(parameters.gradients().size());
  parameter_count_.resize(static_cast<size_t>((size + slice_ - 1) / slice_));
  for (const Parameter& parameter : parameters.list()) {
    const auto [first, last] = slices_of(parameter, slice_);
    for (int64_t i = first; i <= last; ++i) ++parameter_count_[static_cast<size_t>(i)];
  }
}

GradientSum::~GradientSum() {
  if (started_ > 0) processes_.cancel_sums();
}

void GradientSum::begin(Tape& tape) {
  if (processes_.count() == 1) return;
  pending_ = parameter_count_;
  ready_order_.clear();
  started_ = 0;
  tape.on_gradient_ready(
      [](void* self, const Storage& parameter) { static_cast<GradientSum*>(self)->on_ready(parameter); },
      this);
}

void GradientSum::on_ready(const Storage& parameter) {
  const auto [first, last] = slices_of(parameters_.list()[static_cast<size_t>(parameter.index)], slice_);
  for (int64_t i = first; i <= last; ++i) {
    if (--pending_[static_cast<size_t>(i)] == 0) ready_order_.push_back(static_cast<int>(i));
  }
  start_ready_slices();
}

void GradientSum::start_ready_slices() {
  const auto gradients = parameters_.gradients();
  while (started_ < order_.size() && pending_[static_cast<size_t>(order_[started_])] == 0) {
    const auto begin = static_cast<size_t>(order_[started_++] * slice_);
    auto slice = gradients.subspan(begin, std::min(static_cast<size_t>(slice_), gradients.size() - begin));
    if (!processes_.sums_device_memory() && !parameters_.memory().is_host_memory()) {
      OnHost& copy = on_host_.emplace_back(OnHost{slice, std::vector<float>(slice.size())});
      parameters_.memory().download(copy.values.data(), slice.data(), slice.size_bytes());
      slice = copy.values;
    }
    processes_.start_sum(slice, wire_);
  }
}

// Parameters that no op has written to are complete, too.
void GradientSum::finish(Tape& tape) {
  if (processes_.count() == 1) return;
  if (pending_.empty()) begin(tape);
  tape.on_gradient_ready(nullptr, nullptr);
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] > 0) ready_order_.push_back(static_cast<int>(i));
    pending_[i] = 0;
  }
  if (order_.empty()) agree_on_order();
  start_ready_slices();
  processes_.finish_sums();
  for (const OnHost& copy : on_host_)
    parameters_.memory().upload(copy.device.data(), copy.values.data(), copy.device.size_bytes());
  on_host_.clear();
  pending_.clear();
  started_ = 0;
}

// The order depends only on the model, but a process without a batch does not know it; so all use the first
// process's. If that had no batch, slices go in the order of memory, which is slower and just as correct.
void GradientSum::agree_on_order() {
  std::string text(reinterpret_cast<const char*>(ready_order_.data()), ready_order_.size() * sizeof(int));
  text = processes_.broadcast(text);
  order_.resize(text.size() / sizeof(int));
  CHECK(order_.size() == parameter_count_.size(), "{} slices of {}", order_.size(), parameter_count_.size());
  std::ranges::copy(text, reinterpret_cast<char*>(order_.data()));
}

}  // namespace dragoman::internal
