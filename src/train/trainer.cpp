#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include "model/weights.h"
#include "train/schedule.h"

namespace dragoman {

LossSums& LossSums::operator+=(const LossSums& other) {
  smoothed += other.smoothed;
  unsmoothed += other.unsmoothed;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  return *this;
}

Trainer::Trainer(Transformer& model, const UpdateOptions& options, Processes& processes)
    : model_(model),
      options_(options),
      processes_(processes),
      adam_(model.device, model.parameters, options.adam),
      gradient_sum_(model.parameters, processes, options.wire, options.slice) {
  if (options.ema > 0)
    average_ = Tensor(model.device.pool, 1, static_cast<int64_t>(model.parameters.weights().size()));
}

LossSums Trainer::run(const BatchSlice& batch, Tape* tape) {
  Device& device = model_.device;
  const Tokens source = pack_tokens(device, batch.source.ids, batch.source.lengths, batch.pairs);
  const Tokens target = pack_tokens(device, batch.target_input.ids, batch.target_input.lengths, batch.pairs);
  const Array<int32_t> targets(device.pool, batch.targets);
  Pass pass{.device = device,
            .tape = tape,
            .precision = tape != nullptr ? options_.precision : Precision::fp32,
            .seed = options_.seed,
            .update = static_cast<uint64_t>(steps_)};
  const Tensor losses = loss(pass, model_, source, target, targets, options_.smoothing);
  if (tape != nullptr) tape->backward();

  LossSums sums = {.source_tokens = source.count(), .target_tokens = target.count()};
  for (int64_t r = 0; r < losses.rows(); ++r) {
    sums.smoothed += static_cast<double>(losses.data()[2 * r]);
    sums.unsmoothed += static_cast<double>(losses.data()[2 * r + 1]);
  }
  return sums;
}

LossSums Trainer::add_gradients(const Batch& batch) { return run(whole(batch), &tape_); }

LossSums Trainer::evaluate(const Batch& batch) { return run(whole(batch), nullptr); }

LossSums Trainer::over_all(const LossSums& own) {
  if (processes_.count() == 1) return own;
  LossSums sums;
  for (const LossSums& one : processes_.gather(own)) sums += one;
  return sums;
}

Gradients Trainer::compute(std::span<const Batch> batches) {
  const auto gradients = model_.parameters.gradients();
  std::ranges::fill(gradients, 0.0f);
  LossSums own;
  for (const Batch& batch : batches) {
    BatchSlice rest = whole(batch);
    for (int64_t parts = slice_count(batch, options_.part_tokens); parts > 0; --parts) {
      if (parts == 1 && &batch == &batches.back()) gradient_sum_.begin(tape_);
      own += run(take_slice(rest, parts), &tape_);
    }
  }
  gradient_sum_.finish(tape_);
  Gradients result = {.sums = over_all(own)};
  const double squares = model_.device.kernels.sum_of_squares(
      model_.device.context, static_cast<int64_t>(gradients.size()), gradients.data());
  result.norm = std::sqrt(squares) / static_cast<double>(std::max<int64_t>(result.sums.target_tokens, 1));
  return result;
}

void Trainer::apply(const Gradients& gradients, double learning_rate) {
  double scale = 1 / static_cast<double>(std::max<int64_t>(gradients.sums.target_tokens, 1));
  if (options_.clip_norm > 0 && gradients.norm > options_.clip_norm)
    scale *= options_.clip_norm / gradients.norm;
  adam_.update(++steps_, learning_rate, scale);
  if (average_) {
    const auto weights = model_.parameters.weights();
    model_.device.kernels.move_toward(model_.device.context, static_cast<int64_t>(weights.size()),
                                      static_cast<float>(averaging_rate(options_.ema, steps_)),
                                      weights.data(), average_.data());
  }
}

LossSums Trainer::update(std::span<const Batch> batches, double learning_rate) {
  const Gradients gradients = compute(batches);
  apply(gradients, learning_rate);
  return gradients.sums;
}

std::span<const float> Trainer::weights_for_use() const {
  const auto weights = model_.parameters.weights();
  return average_ ? std::span<const float>(average_.data(), weights.size()) : weights;
}

void Trainer::swap_average() {
  if (!average_) return;
  const auto weights = model_.parameters.weights();
  std::swap_ranges(weights.begin(), weights.end(), average_.data());
  model_.parameters.changed();
}

void Trainer::reset() {
  if (average_) std::ranges::copy(model_.parameters.weights(), average_.data());
  std::ranges::fill(adam_.first_moments(), 0.0f);
  std::ranges::fill(adam_.second_moments(), 0.0f);
  steps_ = 0;
}

std::vector<CheckpointFile> Trainer::checkpoint_files() const {
  const Parameters& parameters = model_.parameters;
  CheckpointFile optimizer = {"optimizer.safetensors", {}};
  const auto add = [&](std::span<const float> values, const char* prefix) {
    std::ranges::copy(flat_entries(parameters, values, prefix), std::back_inserter(optimizer.entries));
  };
  add(adam_.first_moments(), "first/");
  add(adam_.second_moments(), "second/");
  if (average_) add(parameters.weights(), "weights/");
  return {{"model.safetensors", flat_entries(parameters, weights_for_use())}, std::move(optimizer)};
}

void Trainer::restore(const CheckpointInfo& checkpoint) {
  Parameters& parameters = model_.parameters;
  const auto model = SafetensorsFile::open(checkpoint.path + "/model.safetensors");
  const auto optimizer = SafetensorsFile::open(checkpoint.path + "/optimizer.safetensors");
  if (average_) {
    read_flat(model, parameters, {average_.data(), parameters.weights().size()});
    read_flat(optimizer, parameters, parameters.weights(), "weights/");
  } else {
    read_flat(model, parameters, parameters.weights());
  }
  read_flat(optimizer, parameters, adam_.first_moments(), "first/");
  read_flat(optimizer, parameters, adam_.second_moments(), "second/");
  parameters.changed();
  steps_ = checkpoint.step;
}

}  // namespace dragoman
