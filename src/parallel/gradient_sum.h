// GradientSum: an update's gradients, summed over all processes while backward still computes the rest of them.
//
// The flat buffer is cut into slices. A slice sets out as soon as the tape has announced the last write to each of its
// parameters; all processes send them in one order, in which the first update saw them become ready.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/parameters.h"
#include "parallel/processes.h"
#include "tensor/tape.h"

namespace dragoman {

class GradientSum {
 public:
  // `slice`: floats that set out together; 0: as many as suit the number of processes.
  GradientSum(const Parameters&, Processes&, Wire wire = Wire::fp32, int64_t slice = 0);

  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Before the backward pass that is this process's last of the update, where it has one.
  void begin(Tape& tape);
  // After it: returns when all gradients are sums over all processes.
  void finish(Tape& tape);

 private:
  void ready(const Storage& parameter);
  void start_those_ready();
  void agree_on_order();

  const Parameters& parameters_;
  Processes& processes_;
  Wire wire_;
  int64_t slice_;
  std::vector<int> parameters_of_;  // of each slice: how many lie in it, in whole or in part
  std::vector<int> waiting_for_;    // how many of them are not ready yet
  std::vector<int> order_;          // of the slices; empty before the first update has shown it
  std::vector<int> seen_;           // slices as they become ready
  size_t started_ = 0;              // slices of order_ that have set out

  // Those that have set out, where the processes can read and write them.
  std::vector<HostView<float>> on_host_;
};

}  // namespace dragoman
