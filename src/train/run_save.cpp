// What a run leaves behind: checkpoints, the model, its history.
#include <cstring>
#include <filesystem>

#include "base/build.h"
#include "base/log.h"
#include "model/folder.h"
#include "model/weights.h"
#include "train/run.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

std::vector<TensorEntry> joined(std::vector<TensorEntry> a, const std::vector<TensorEntry>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

nlohmann::json json_of(const LossSums& sums) {
  return {{"smoothed", sums.smoothed},
          {"log_likelihood", sums.unsmoothed},
          {"source_tokens", sums.source_tokens},
          {"target_tokens", sums.target_tokens}};
}

LossSums sums_of(const nlohmann::json& json) {
  return {json.at("smoothed"), json.at("log_likelihood"), json.at("source_tokens"), json.at("target_tokens")};
}

}  // namespace

nlohmann::json RunState::to_json() const {
  return {{"epoch", position.epoch},
          {"index", position.index},
          {"seconds", seconds},
          {"recent_sums", json_of(recent_sums)},
          {"recent_seconds", recent_seconds},
          {"best_step", best_step},
          {"best_value", best_value},
          {"without_improvement", without_improvement},
          {"validated_step", validated_step},
          {"batches_per_update", batches_per_update},
          {"guard", guard.to_json()}};
}

void RunState::from_json(const nlohmann::json& saved) {
  position = {saved.at("epoch"), saved.at("index")};
  seconds = saved.at("seconds");
  recent_sums = sums_of(saved.at("recent_sums"));
  recent_seconds = saved.at("recent_seconds");
  best_step = saved.at("best_step");
  best_value = saved.at("best_value");
  without_improvement = saved.at("without_improvement");
  validated_step = saved.at("validated_step");
  batches_per_update = saved.value("batches_per_update", batches_per_update);
  guard.from_json(saved.at("guard"));
}

std::span<const float> Run::weights_for_use() const {
  const auto weights = model_.parameters.weights();
  return averages_ ? std::span<const float>(averages_.data(), weights.size()) : weights;
}

// One on schedule serves to go on from, too.
bool Run::is_saved(CheckpointReason reason) const {
  return saved_step_ == trainer_.steps() && (saved_reason_ == reason || reason == CheckpointReason::extra);
}

void Run::save(CheckpointReason reason) {
  if (is_saved(reason)) return;
  const Parameters& parameters = model_.parameters;
  const HostView<const float> first(device_.memory, trainer_.adam().first_moments()),
      second(device_.memory, trainer_.adam().second_moments()), weights(device_.memory, parameters.weights()),
      for_use(device_.memory, weights_for_use());
  std::vector<TensorEntry> moments = joined(flat_entries(parameters, first.span(), "first/"),
                                            flat_entries(parameters, second.span(), "second/"));
  if (averages_) moments = joined(std::move(moments), flat_entries(parameters, weights.span(), "weights/"));
  log_->flush();
  const nlohmann::json state = {{"state", state_.to_json()},
                                {"metrics_bytes", log_->bytes()},
                                {"build", build_name()},
                                {"instruction_set", device_.kernels.name},
                                {"processes", processes_.count()}};
  checkpoints_.save(trainer_.steps(), state,
                    {{"model.safetensors", flat_entries(parameters, for_use.span())},
                     {"optimizer.safetensors", std::move(moments)}},
                    reason);
  saved_step_ = trainer_.steps();
  saved_reason_ = reason;
  checkpoints_.prune({state_.best_step});
}

// A disk that is full today may not be tomorrow: training goes on.
void Run::try_to_save(CheckpointReason reason) {
  if (!processes_.first()) return;
  try {
    save(reason);
  } catch (const Error& error) {
    progress_.clear();
    log_warning("{}; training goes on", error.what());
    log("checkpoint", {{"failed", error.what()}});
  }
}

// After a validation, and after its checkpoint. A model without one would be taken for another command's, which no run
// may write over: the first model has a checkpoint of its own.
void Run::keep_if_best() {
  if (state_.best_step != trainer_.steps() || !processes_.first()) return;
  if (saved_step_ < 0) try_to_save(CheckpointReason::extra);
  write_model();
}

void Run::write_model() {
  try {
    const HostView<const float> weights(device_.memory, weights_for_use());
    write_weights(options_.folder + "/model.safetensors", model_.parameters, weights.span());
  } catch (const Error& error) {
    log_warning("{}; training goes on", error.what());
  }
}

// The last checkpoints that an undisturbed run has, the one of its end among them; none where no average is wanted.
std::vector<std::string> Run::files_to_average() const {
  const auto count = static_cast<size_t>(recipe_.training.average_last);
  std::vector<std::string> files;
  if (count < 2) return files;
  for (const CheckpointInfo& found : checkpoints_.list()) {
    if (found.reason == CheckpointReason::on_schedule || found.step == trainer_.steps())
      files.push_back(weights_path(found.path));
  }
  if (files.size() > count) files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(count));
  return files;
}

// The model is the best one so far; or the average of the last checkpoints, where the recipe wants that.
void Run::finish() {
  if (!processes_.first()) return;
  const std::vector<std::string> files = files_to_average();
  if (!files.empty()) {
    average_weights(model_, files);
    const HostView<const float> weights(device_.memory, model_.parameters.weights());
    write_weights(options_.folder + "/model.safetensors", model_.parameters, weights.span());
    log_info("the model is the average of the last {} checkpoints", files.size());
  } else {
    restore_best();
  }
  log("end",
      {{"epoch", state_.position.epoch}, {"best_step", state_.best_step}, {"seconds", state_.seconds}});
}

// As the model's own weights, too. Its file may be missing, or that of another step, where the disk was full or the
// program killed: then the best step's checkpoint has them.
void Run::restore_best() {
  const std::string path = weights_path(options_.folder);
  if (const auto checkpoint = checkpoints_.of_step(state_.best_step)) {
    const auto read = [&](const std::string& file) {
      read_weights(file, model_.parameters);
      const HostView<const float> weights(device_.memory, model_.parameters.weights());
      return std::vector<float>(weights.begin(), weights.end());
    };
    const std::vector<float> best = read(weights_path(checkpoint->path));
    if (!fs::exists(path) || !have_same_bits(read(path), best)) write_weights(path, model_.parameters, best);
  }
  if (!fs::exists(path)) {
    throw Error("{} has no model, for none could be written: see to the disk, and run the same command again",
                options_.folder);
  }
  read_weights(path, model_.parameters);
}

void Run::log(const std::string& event, nlohmann::ordered_json values) {
  if (!processes_.first()) return;
  log_->write(event, trainer_.steps(), values);
  if (event != "train" && event != "validation") return;
  for (const auto& [name, value] : values.items()) {
    if (value.is_number_float()) board_->scalar(event + "/" + name, trainer_.steps(), value);
  }
}

void average_weights(Transformer& model, const std::vector<std::string>& files) {
  const Parameters& parameters = model.parameters;
  std::vector<double> sums(parameters.weights().size());
  for (const std::string& file : files) {
    read_weights(file, model.parameters);
    const HostView<const float> weights(parameters.memory(), parameters.weights());
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(weights[i]);
  }
  {
    const HostView<float> weights(parameters.memory(), parameters.weights());
    for (size_t i = 0; i < sums.size(); ++i)
      weights[i] = static_cast<float>(sums[i] / static_cast<double>(files.size()));
  }
  model.parameters.changed();
}

}  // namespace dragoman
