#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include <nlohmann/json.hpp>

#include "model/decoding_weights.h"
#include "model/weights.h"
#include "train/finite.h"
#include "train/schedule.h"

namespace dragoman::internal {
namespace {

// Calls visit(slice, is_last) for the parts that each batch is computed in.
template <class Visit>
void for_each_slice(std::span<const Batch> batches, int64_t part_tokens, Visit visit) {
  for (const Batch& batch : batches) {
    BatchSlice rest = whole(batch);
    for (int64_t slices = slice_count(batch, part_tokens); slices > 0; --slices) {
      const bool is_last = slices == 1 && &batch == &batches.back();
      visit(take_slice(rest, slices), is_last);
    }
  }
}

// `losses`: two for each target.
LossSums word_sums(const BatchSlice& batch, std::span<const float> losses) {
  LossSums sums = {.source_tokens = std::ssize(batch.source.ids),
                   .target_tokens = std::ssize(batch.target_input.ids)};
  for (size_t i = 0; i < losses.size(); i += 2) {
    sums.smoothed += static_cast<double>(losses[i]);
    sums.unsmoothed += static_cast<double>(losses[i + 1]);
  }
  return sums;
}

// `losses`: one for each target.
void add_alignment(const BatchSlice& batch, std::span<const float> losses, LossSums& sums) {
  for (const float loss : losses) sums.alignment += static_cast<double>(loss);
  sums.linked_tokens += std::ranges::count_if(batch.link_counts, [](int32_t count) { return count > 0; });
}

}  // namespace

LossSums& LossSums::operator+=(const LossSums& other) {
  smoothed += other.smoothed;
  unsmoothed += other.unsmoothed;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  alignment += other.alignment;
  linked_tokens += other.linked_tokens;
  return *this;
}

Trainer::Trainer(Transformer& model, const UpdateOptions& options, Processes& processes)
    : model_(model),
      options_(options),
      processes_(processes),
      low_rank_(model.parameters),
      adam_(model.device, model.parameters, options.adam,
            options.muon ? std::not_fn(is_moved_by_muon) : Adam::Moves()),
      gradient_sum_(model.parameters, processes, options.wire, options.slice) {
  if (options.muon) muon_.emplace(model.device, model.parameters, *options.muon, options.precision);
  if (options.ema > 0)
    average_ = Tensor(model.device.pool, 1, static_cast<int64_t>(model.parameters.weights().size()));
}

bool Trainer::is_guided(const BatchSlice& batch) const {
  return options_.guided_alignment > 0 && !batch.link_counts.empty();
}

// Adds the gradients where there is a tape. Nobody waits for the losses here.
Trainer::Losses Trainer::run(const BatchSlice& batch, Tape* tape) {
  Device& device = model_.device;
  const Tokens source = pack_tokens(device, batch.source.ids, batch.source.lengths, batch.pairs);
  const Tokens target = pack_tokens(device, batch.target_input.ids, batch.target_input.lengths, batch.pairs);
  const Array<int32_t> targets(device.pool, batch.targets);
  Pass pass{.device = device,
            .tape = tape,
            .precision = tape != nullptr ? options_.precision : Precision::fp32,
            .seed = options_.seed,
            .update = static_cast<uint64_t>(steps_)};
  GuidedAlignment guided = {.layer = model_.config.alignment_layer,
                            .weight = static_cast<float>(options_.guided_alignment)};
  if (is_guided(batch)) {
    guided.links = TokenLinks(device.pool, batch.link_counts, batch.linked_sources);
    pass.guided = &guided;
  }
  Losses losses;
  losses.words = loss(pass, model_, source, target, targets, options_.smoothing);
  losses.alignment = std::move(guided.losses);
  if (tape != nullptr) tape->backward();
  return losses;
}

// Of all parts, in their order.
LossSums Trainer::sums_of(std::span<const Batch> batches, const Losses& losses) const {
  const HostView<const float> words = losses.words.values();
  std::optional<HostView<const float>> alignment;
  if (losses.alignment) alignment.emplace(losses.alignment.values());
  LossSums sums;
  size_t row = 0;
  for_each_slice(batches, options_.part_tokens, [&](const BatchSlice& slice, bool) {
    const size_t count = slice.targets.size();
    LossSums own = word_sums(slice, words.span().subspan(2 * row, 2 * count));
    if (is_guided(slice)) add_alignment(slice, alignment->span().subspan(row, count), own);
    sums += own;
    row += count;
  });
  return sums;
}

LossSums Trainer::add_gradients(const Batch& batch) { return run_whole(batch, &tape_); }
LossSums Trainer::evaluate(const Batch& batch) { return run_whole(batch, nullptr); }

LossSums Trainer::run_whole(const Batch& batch, Tape* tape) {
  const BatchSlice all = whole(batch);
  const Losses losses = run(all, tape);
  LossSums sums = word_sums(all, losses.words.values().span());
  if (losses.alignment) add_alignment(all, losses.alignment.values().span(), sums);
  return sums;
}

LossSums Trainer::over_all(const LossSums& own) {
  if (processes_.count() == 1) return own;
  LossSums sums;
  for (const LossSums& one : processes_.gather(own)) sums += one;
  return sums;
}

// Without gradients Adam's moments stay 0, and it changes nothing.
void Trainer::clear_gradients_of_fixed() {
  if (!options_.fixes_matrices) return;
  float* const gradients = model_.parameters.gradients().data();
  for (const Parameter& parameter : model_.parameters.list()) {
    const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
    if (rows > 1 && !is_low_rank(parameter.name))
      model_.device.memory.fill({gradients + parameter.offset, rows, columns, columns}, 0);
  }
}

// Of all slices, one after another.
Trainer::Losses Trainer::add_gradients(std::span<const Batch> batches) {
  const int64_t targets =
      std::accumulate(batches.begin(), batches.end(), int64_t{0},
                      [](int64_t sum, const Batch& batch) { return sum + batch.target_tokens(); });
  Device& device = model_.device;
  const PassWeights weights = pass_weights();
  if (options_.precision == Precision::bf16) model_.parameters.round(device);
  Losses losses = {.words = Tensor(device.pool, targets, 2), .alignment = {}};
  if (options_.guided_alignment > 0) losses.alignment = Tensor(device.pool, targets, 1);
  const auto keep = [&](const Tensor& part, const Tensor& all, int64_t row) {
    device.memory.copy(all.row_range(row, part.rows()).data(), part.data(),
                       static_cast<size_t>(part.rows() * part.columns()) * sizeof(float));
  };
  int64_t row = 0;
  for_each_slice(batches, options_.part_tokens, [&](const BatchSlice& slice, bool is_last) {
    if (is_last) gradient_sum_.begin(tape_);
    const Losses part = run(slice, &tape_);
    keep(part.words, losses.words, row);
    if (part.alignment) keep(part.alignment, losses.alignment, row);
    row += part.words.rows();
  });
  return losses;
}

// The host waits for a device only at the end: for the sum of squares, which comes after everything else, so that the
// losses are there, too.
Gradients Trainer::compute(std::span<const Batch> batches) {
  model_.parameters.clear_gradients();
  const Losses losses = add_gradients(batches);
  gradient_sum_.finish(tape_);
  low_rank_.take_gradients(model_.device);
  clear_gradients_of_fixed();
  const auto gradients = model_.parameters.gradients();
  const double squares = model_.device.kernels.sum_of_squares(
      model_.device.context, static_cast<int64_t>(gradients.size()), gradients.data());
  Gradients result = {.sums = over_all(sums_of(batches, losses))};
  result.norm = std::sqrt(squares) / static_cast<double>(std::max<int64_t>(result.sums.target_tokens, 1));
  return result;
}

void Trainer::apply(const Gradients& gradients, double learning_rate) {
  double scale = 1 / static_cast<double>(std::max<int64_t>(gradients.sums.target_tokens, 1));
  if (options_.clip_norm > 0 && gradients.norm > options_.clip_norm)
    scale *= options_.clip_norm / gradients.norm;
  if (muon_) muon_->update(learning_rate, adam_.first_moments());
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

Trainer::PassWeights::PassWeights(Trainer& trainer) {
  const bool updates = !trainer.low_rank_.empty(), rounds = trainer.options_.int8_weights;
  if (!updates && !rounds) return;
  Device& device = trainer.model_.device;
  Parameters& parameters = trainer.model_.parameters;
  own_.emplace(device, parameters);
  if (updates) trainer.low_rank_.add_to_weights(device);
  if (rounds) round_weights_to_int8(trainer.host_context(), parameters);
  parameters.changed();
}

CpuContext& Trainer::host_context() {
  Context& context = model_.device.context;
  if (auto* const own = dynamic_cast<CpuContext*>(&context)) return *own;
  if (!host_context_) host_context_ = std::make_unique<CpuContext>(context.threads());
  return *host_context_;
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
