#include "parallel/gradient_sum.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {
namespace {

// Large enough that a process's part of a slice is worth a message, small enough that the first one sets out early.
int64_t usual_slice(int processes) { return std::max<int64_t>(1 << 20, processes * (int64_t{1} << 14)); }

struct Slices {
  int64_t first, last;
};

Slices slices_of(const Parameter& parameter, int64_t slice) {
  return {parameter.offset / slice, (parameter.offset + parameter.size() - 1) / slice};
}

}  // namespace

GradientSum::GradientSum(const Parameters& parameters, Processes& processes, Wire wire, int64_t slice)
    : parameters_(parameters),
      processes_(processes),
      wire_(wire),
      slice_(slice > 0 ? slice : usual_slice(processes.count())) {
  const auto size = static_cast<int64_t>(parameters.gradients().size());
  parameters_of_.resize(static_cast<size_t>((size + slice_ - 1) / slice_));
  for (const Parameter& parameter : parameters.list()) {
    const auto [first, last] = slices_of(parameter, slice_);
    for (int64_t i = first; i <= last; ++i) ++parameters_of_[static_cast<size_t>(i)];
  }
}

GradientSum::~GradientSum() {
  if (started_ > 0) processes_.abandon_sums();
}

void GradientSum::begin(Tape& tape) {
  if (processes_.count() == 1) return;
  waiting_for_ = parameters_of_;
  seen_.clear();
  started_ = 0;
  tape.on_gradient_ready(
      [](void* self, const Storage& parameter) { static_cast<GradientSum*>(self)->ready(parameter); }, this);
}

void GradientSum::ready(const Storage& parameter) {
  const auto [first, last] = slices_of(parameters_.list()[static_cast<size_t>(parameter.index)], slice_);
  for (int64_t i = first; i <= last; ++i) {
    if (--waiting_for_[static_cast<size_t>(i)] == 0) seen_.push_back(static_cast<int>(i));
  }
  start_those_ready();
}

void GradientSum::start_those_ready() {
  const auto gradients = parameters_.gradients();
  for (; started_ < order_.size() && waiting_for_[static_cast<size_t>(order_[started_])] == 0; ++started_) {
    const auto begin = static_cast<size_t>(order_[started_] * slice_);
    const auto slice =
        gradients.subspan(begin, std::min(static_cast<size_t>(slice_), gradients.size() - begin));
    on_host_.emplace_back(parameters_.memory(), slice);
    processes_.start_sum(on_host_.back().span(), wire_);
  }
}

// What no op has written to is complete as it is.
void GradientSum::finish(Tape& tape) {
  if (processes_.count() == 1) return;
  if (waiting_for_.empty()) begin(tape);
  tape.on_gradient_ready(nullptr, nullptr);
  for (size_t i = 0; i < waiting_for_.size(); ++i) {
    if (waiting_for_[i] > 0) seen_.push_back(static_cast<int>(i));
    waiting_for_[i] = 0;
  }
  if (order_.empty()) agree_on_order();
  start_those_ready();
  processes_.finish_sums();
  on_host_.clear();
  waiting_for_.clear();
  started_ = 0;
}

// The order is the model's, and the same wherever it was seen; but a process that had no batch saw none. So it is what
// the first one saw. If that was nothing, slices go in the order of memory: later than they could, and no less right.
void GradientSum::agree_on_order() {
  std::string text(reinterpret_cast<const char*>(seen_.data()), seen_.size() * sizeof(int));
  text = processes_.from_first(text);
  order_.resize(text.size() / sizeof(int));
  CHECK(order_.size() == parameters_of_.size(), "{} slices of {}", order_.size(), parameters_of_.size());
  std::ranges::copy(text, reinterpret_cast<char*>(order_.data()));
}

}  // namespace dragoman
