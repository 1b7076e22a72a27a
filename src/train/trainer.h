// Trainer: a model, its optimiser, and the update that takes both one step further.
//
// An update may consist of several micro-batches, each of which is worked on in parts that take less memory than the
// whole: gradients are sums over tokens, divided once by the update's number of target tokens, so that however it is
// cut the update is the same but for rounding. Where several processes train together, each computes its own
// micro-batches, and all make the same update of the sum.
#pragma once

#include <span>

#include "data/batch.h"
#include "data/batch_slices.h"
#include "model/transformer.h"
#include "parallel/gradient_sum.h"
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
  int64_t part_tokens = 0;                // of a batch's larger side that are worked on at once; 0: all
  Precision precision = Precision::fp32;  // of the operands of an update's products; evaluation has fp32
  Wire wire = Wire::fp32;  // between processes, in slices of so many floats; 0: as many as suit
  int64_t slice = 0;
};

// What the micro-batches of one update gave, those of all processes: sums, and the norm of the gradient of the loss
// per token.
struct Gradients {
  LossSums sums;
  double norm = 0;
};

class Trainer {
 public:
  Trainer(Transformer& model, const UpdateOptions& options, Processes& processes = single_process());

  // An update in two halves, so that somebody can look at it before it touches the weights. `batches`: this process's.
  Gradients compute(std::span<const Batch> batches);
  void apply(const Gradients& gradients, double learning_rate);

  // Both.
  LossSums update(std::span<const Batch> batches, double learning_rate);

  // The gradients of one micro-batch as a whole, added to those that are there.
  LossSums add_gradients(const Batch& batch);

  LossSums evaluate(const Batch& batch);

  int64_t steps() const { return steps_; }  // updates done
  void set_steps(int64_t steps) { steps_ = steps; }
  Adam& adam() { return adam_; }

 private:
  LossSums run(const BatchSlice& batch, Tape* tape);
  LossSums over_all(const LossSums& own);

  Transformer& model_;
  UpdateOptions options_;
  Processes& processes_;
  Adam adam_;
  Tape tape_;
  GradientSum gradient_sum_;
  int64_t steps_ = 0;
};

}  // namespace dragoman
