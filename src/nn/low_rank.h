// Low-rank updates (LoRA: Hu et al., 2022): a weight W, in × out, stays as it is, and W + A·B is used in its place, of
// which A, in × rank, and B, rank × out, are learned. They are parameters as others are, named after their weight.
//
// Ops know nothing of them: they compute with the sums, whose gradients are then turned into those of A and B.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/parameters.h"
#include "tensor/device.h"

namespace dragoman::internal {

// A's and B's.
inline std::string low_rank_in(std::string_view weight) { return std::string(weight) + ".low_rank_in"; }
inline std::string low_rank_out(std::string_view weight) { return std::string(weight) + ".low_rank_out"; }

// Whether this is the name of an A or a B, or a B.
bool is_low_rank(std::string_view parameter);
bool is_low_rank_out(std::string_view parameter);

// For every weight, an update that is zero at first: A is random, B zero.
void declare_low_rank_updates(Parameters& parameters, int64_t rank);

class LowRankUpdates {
 public:
  // Those that the parameters have.
  explicit LowRankUpdates(const Parameters& parameters);

  bool empty() const { return all_.empty(); }

  // W + A·B, in W's place: the parameters have changed.
  void add_to_weights(Device& device) const;

  // The gradients of A and B from those of their weights, which are zero then.
  void take_gradients(Device& device) const;

 private:
  struct Update {
    Tensor weight, in, out;
  };
  std::vector<Update> all_;
};

}  // namespace dragoman::internal
