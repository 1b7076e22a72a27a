// GradientSum: an update's gradients, summed over all processes while backward still computes the rest of them.
//
// The flat buffer is cut into slices. The sum of a slice starts as soon as the tape has announced the last write to
// each of its parameters. All processes start them in one order: that in which they became ready in the first update.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/parameters.h"
#include "parallel/processes.h"
#include "tensor/tape.h"

namespace dragoman::internal {

class GradientSum {
 public:
  // `slice`: floats that are summed together; 0: chosen for the number of processes.
  GradientSum(const Parameters&, Processes&, GradientFormat wire = GradientFormat::fp32, int64_t slice = 0);

  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Before this process's last backward pass of the update, if it has any.
  void begin(Tape& tape);
  // After it: returns when all gradients are sums over all processes.
  void finish(Tape& tape);

 private:
  void on_ready(const Storage& parameter);
  void start_ready_slices();
  void agree_on_order();

  const Parameters& parameters_;
  Processes& processes_;
  GradientFormat wire_;
  int64_t slice_;
  std::vector<int> parameter_count_;  // of each slice: parameters in it, in whole or in part
  std::vector<int> pending_;          // how many of them are not ready yet
  std::vector<int> order_;            // in which the slices are summed; empty until the first update
  std::vector<int> ready_order_;      // slices as they became ready in this process
  size_t started_ = 0;                // slices of order_ whose sum has started
  struct OnHost {
    std::span<float> device;
    std::vector<float> values;
  };
  std::vector<OnHost> on_host_;  // those slices of a device that processes cannot sum in
};

}  // namespace dragoman::internal
