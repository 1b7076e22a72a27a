// Muon (Jordan et al., 2024): a matrix moves by its momentum made orthogonal, and so equally far in all directions, in
// those too that few sentences ask for.
//
// It moves the weights of linear layers; embeddings, biases and norms are left to Adam. Where a weight consists of
// several matrices, those of attention's heads and of groups of hidden units, each of them moves for itself.
#pragma once

#include <span>
#include <vector>

#include "nn/parameters.h"

namespace dragoman::internal {

struct MuonOptions {
  double momentum = 0.95;
  double rate = 1;  // learning rate, in units of Adam's
};

bool is_moved_by_muon(const Parameter& parameter);

class Muon {
 public:
  // precision: of its products' operands, where that is faster.
  Muon(Device& device, Parameters& parameters, const MuonOptions& options, Precision precision);

  // One update with the gradients, of whatever scale, which it overwrites. momentum: flat, laid out as the weights are.
  void update(double learning_rate, std::span<float> momentum);

 private:
  // A weight's part, and the gradient that becomes its direction.
  struct Block {
    Matrix weight, direction;

    bool is_wide() const { return weight.rows <= weight.columns; }
    int64_t shorter() const { return is_wide() ? weight.rows : weight.columns; }
    int64_t longer() const { return is_wide() ? weight.columns : weight.rows; }
    bool is_like(const Block& other) const {
      return shorter() == other.shorter() && longer() == other.longer();
    }
  };

  void add(const Block& block);
  void add_momentum(std::span<float> momentum);
  void move(const std::vector<Block>& blocks, double learning_rate);

  Device& device_;
  Parameters& parameters_;
  MuonOptions options_;
  Precision precision_;
  std::vector<std::vector<Block>> groups_;  // of equal sizes, which move together
  std::vector<SmallProduct> products_;      // kept, so that no update allocates
};

}  // namespace dragoman::internal
