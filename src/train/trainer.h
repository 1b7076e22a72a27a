// Trainer: a model, its optimiser, and the update that takes both one step further.
//
// An update may consist of several micro-batches: gradients are sums over tokens, divided once by the update's
// number of target tokens, so that however it is cut the update is the same but for rounding.
#pragma once

#include <span>

#include "model/transformer.h"
#include "text/batch.h"
#include "train/adam.h"

namespace dragoman {

// Sums over target tokens.
struct LossSums {
  double smoothed = 0;    // what is trained on
  double unsmoothed = 0;  // −log p of the right token
  int64_t source_tokens = 0, target_tokens = 0;

  double per_token() const { return smoothed / static_cast<double>(target_tokens); }
  LossSums& operator+=(const LossSums& other);
};

struct UpdateOptions {
  AdamOptions adam;
  Smoothing smoothing = {0.1f, SmoothingOver::all};
  double clip_norm = 0;  // 0: off. Of the gradient of the loss per token.
  uint64_t seed = 1;
  Precision precision =
      Precision::fp32;  // or bf16: of the operands of an update's products; evaluation has fp32
};

// What the micro-batches of one update gave: sums, and the norm of the gradient of the loss per token.
struct Gradients {
  LossSums sums;
  double norm = 0;
};

class Trainer {
 public:
  Trainer(Transformer& model, const UpdateOptions& options);

  // An update in two halves, so that somebody can look at it before it touches the weights.
  Gradients compute(std::span<const Batch> batches);
  void apply(const Gradients& gradients, double learning_rate);

  // Both.
  LossSums update(std::span<const Batch> batches, double learning_rate);

  // The gradients of one micro-batch, added to those that are there.
  LossSums add_gradients(const Batch& batch);

  LossSums evaluate(const Batch& batch);

  int64_t steps() const { return steps_; }  // updates done
  void set_steps(int64_t steps) { steps_ = steps; }
  Adam& adam() { return adam_; }

 private:
  LossSums run(const Batch& batch, Tape* tape);

  Transformer& model_;
  UpdateOptions options_;
  Adam adam_;
  Tape tape_;
  int64_t steps_ = 0;
};

}  // namespace dragoman
