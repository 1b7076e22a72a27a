// Trainer: a model, its optimiser, and the update that moves both one step forward.
//
// An update may consist of several micro-batches, and each of these is computed in parts, which takes less memory than
// the whole: gradients are sums over tokens, divided once by the update's number of target tokens, so that the update
// is the same, up to rounding, however it is cut. Where several processes train together, each computes its own
// micro-batches, and all make the same update with the sum.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "kernels/context.h"
#include "model/transformer.h"
#include "nn/kept_weights.h"
#include "nn/low_rank.h"
#include "parallel/gradient_sum.h"
#include "train/adam.h"
#include "train/checkpoints.h"
#include "train/muon.h"

namespace dragoman::internal {

// Sums over target tokens.
struct LossSums {
  double smoothed = 0;    // what is trained on
  double unsmoothed = 0;  // −log p of the right token
  int64_t source_tokens = 0, target_tokens = 0;
  double alignment = 0;       // of guided alignment, without its weight,
  int64_t linked_tokens = 0;  // over the target tokens that have a link

  double per_token() const { return smoothed / static_cast<double>(target_tokens); }
  double unsmoothed_per_token() const { return unsmoothed / static_cast<double>(target_tokens); }
  // Nothing without guided alignment.
  std::optional<double> alignment_per_token() const {
    if (linked_tokens == 0) return std::nullopt;
    return alignment / static_cast<double>(linked_tokens);
  }
  LossSums& operator+=(const LossSums& other);
};

struct UpdateOptions {
  AdamOptions adam;
  std::optional<MuonOptions> muon = {};  // for matrices, in Adam's place
  Smoothing smoothing = {0.1f, SmoothingOver::all};
  double clip_norm = 0;  // 0: off. Of the gradient of the loss per token.
  uint64_t seed = 1;
  int64_t part_tokens = 0;                     // of a batch's larger side that are computed at once; 0: all
  Precision precision = Precision::fp32;       // of the operands of an update's products; evaluation has fp32
  GradientFormat wire = GradientFormat::fp32;  // between processes
  int64_t slice = 0;            // floats that processes sum together; 0: chosen for their number
  bool int8_weights = false;    // of the int8 model, in all passes: see pass_weights()
  double ema = 0;               // decay of the moving average of the weights; 0: none
  bool fixes_matrices = false;  // only vectors change, and low-rank updates
  // Guided alignment: what the sum of its losses is multiplied by, which is then divided by the update's target tokens,
  // as all else is; 0: none. The layer is the model's alignment_layer.
  double guided_alignment = 0;
};

// Of the micro-batches of one update in all processes: sums, and the norm of the gradient of the loss per token.
struct Gradients {
  LossSums sums;
  double norm = 0;
};

class Trainer {
 public:
  Trainer(Transformer& model, const UpdateOptions& options, Processes& processes = single_process());

  // The two halves of an update, between which it can be rejected. `batches`: this process's.
  Gradients compute(std::span<const Batch> batches);
  void apply(const Gradients& gradients, double learning_rate);

  // Both.
  LossSums update(std::span<const Batch> batches, double learning_rate);

  // Adds the gradients of one micro-batch, computed as a whole.
  LossSums add_gradients(const Batch& batch);

  LossSums evaluate(const Batch& batch);

  // The weights to validate, save and translate with: their moving average where there is one.
  std::span<const float> weights_for_use() const;
  // As long as the result lives the model has the weights that its passes compute with, where these are others: with
  // low-rank updates added, or as the int8 model will have them. Gradients are taken there and change the model's own,
  // as if rounding had the derivative 1 (the straight-through estimator: Bengio et al., 2013).
  class PassWeights {
   public:
    explicit PassWeights(Trainer& trainer);

   private:
    std::optional<KeptWeights> own_;
  };
  [[nodiscard]] PassWeights pass_weights() { return PassWeights(*this); }
  // Exchanges the model's weights and their average, if there is one: before and after an evaluation.
  void swap_average();

  // Starts at step 0 from the weights that the model has now.
  void reset();

  // The tensors of a checkpoint, written and read.
  void save(const Checkpoints& checkpoints, const nlohmann::json& state, CheckpointReason reason,
            int64_t best_step) const;
  void restore(const CheckpointInfo& checkpoint);
  // Which of them is not finite; empty if all are.
  std::string non_finite_tensor() const;

  int64_t steps() const { return steps_; }  // updates done
  Transformer& model() const { return model_; }
  Adam& adam() { return adam_; }

 private:
  struct CheckpointTensors {
    std::deque<HostView<const float>> views;  // that the files' entries point to
    std::vector<CheckpointFile> files;
  };

  // Two losses for each target; and one by its links, if there are any.
  struct Losses {
    Tensor words, alignment;
  };

  Losses run(const BatchSlice& batch, Tape* tape);
  LossSums run_whole(const Batch& batch, Tape* tape);
  Losses add_gradients(std::span<const Batch> batches);
  LossSums sums_of(std::span<const Batch> batches, const Losses& losses) const;
  bool is_guided(const BatchSlice& batch) const;
  CheckpointTensors checkpoint_tensors() const;
  LossSums over_all(const LossSums& own);
  void clear_gradients_of_fixed();
  CpuContext& host_context();

  Transformer& model_;
  UpdateOptions options_;
  Processes& processes_;
  LowRankUpdates low_rank_;
  Adam adam_;
  std::optional<Muon> muon_;
  Tensor average_;  // of the weights, flat; none if options_.ema is 0
  Tape tape_;
  GradientSum gradient_sum_;
  std::unique_ptr<CpuContext> host_context_;  // rounds weights where the device is not the host
  int64_t steps_ = 0;
};

}  // namespace dragoman::internal
