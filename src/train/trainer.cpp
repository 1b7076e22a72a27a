#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include "model/weights.h"
#include "train/finite.h"
#include "train/schedule.h"

namespace dragoman::internal {

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
  const HostView<const float> values = losses.values();
  for (size_t i = 0; i < values.size(); i += 2) {
    sums.smoothed += static_cast<double>(values[i]);
    sums.unsmoothed += static_cast<double>(values[i + 1]);
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
  model_.parameters.clear_gradients();
  LossSums own;
  for (const Batch& batch : batches) {
    BatchSlice rest = whole(batch);
    for (int64_t slices = slice_count(batch, options_.part_tokens); slices > 0; --slices) {
      if (slices == 1 && &batch == &batches.back()) gradient_sum_.begin(tape_);
      own += run(take_slice(rest, slices), &tape_);
    }
  }
  gradient_sum_.finish(tape_);
  Gradients result = {.sums = over_all(own)};
  const auto gradients = model_.parameters.gradients();
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
  {
    const HostView<float> weights(model_.device.memory, model_.parameters.weights()),
        average = average_.writable_values();
    std::swap_ranges(weights.begin(), weights.end(), average.begin());
  }
  model_.parameters.changed();
}

void Trainer::reset() {
  const auto weights = model_.parameters.weights();
  if (average_) model_.device.memory.copy(average_.data(), weights.data(), weights.size_bytes());
  adam_.forget();
  steps_ = 0;
}

Trainer::CheckpointTensors Trainer::checkpoint_tensors() const {
  const Parameters& parameters = model_.parameters;
  CheckpointTensors tensors;
  const auto entries = [&](std::span<const float> values, const char* prefix) {
    return flat_entries(parameters, tensors.views.emplace_back(model_.device.memory, values).span(), prefix);
  };
  CheckpointFile optimizer = {"optimizer.safetensors", entries(adam_.first_moments(), "first/")};
  std::ranges::copy(entries(adam_.second_moments(), "second/"), std::back_inserter(optimizer.entries));
  if (average_)
    std::ranges::copy(entries(parameters.weights(), "weights/"), std::back_inserter(optimizer.entries));
  tensors.files = {{"model.safetensors", entries(weights_for_use(), "")}, std::move(optimizer)};
  return tensors;
}

void Trainer::save(const Checkpoints& checkpoints, const nlohmann::json& state, CheckpointReason reason,
                   int64_t best_step) const {
  checkpoints.save(steps_, state, checkpoint_tensors().files, reason, best_step);
}

std::string Trainer::non_finite_tensor() const {
  for (const auto tensors = checkpoint_tensors(); const CheckpointFile& file : tensors.files) {
    if (std::string name = first_non_finite(file.entries); !name.empty()) return name;
  }
  return {};
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

}  // namespace dragoman::internal
