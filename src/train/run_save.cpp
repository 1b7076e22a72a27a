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
  std::vector<TensorEntry> moments =
      joined(flat_entries(parameters, trainer_.adam().first_moments(), "first/"),
             flat_entries(parameters, trainer_.adam().second_moments(), "second/"));
  if (averages_)
    moments = joined(std::move(moments), flat_entries(parameters, parameters.weights(), "weights/"));
  log_->flush();
  const nlohmann::json state = {{"state", state_.to_json()},
                                {"metrics_bytes", log_->bytes()},
                                {"build", build_name()},
                                {"instruction_set", device_.kernels.name},
                                {"processes", processes_.count()}};
  checkpoints_.save(trainer_.steps(), state,
                    {{"model.safetensors", flat_entries(parameters, weights_for_use())},
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
    write_weights(options_.folder + "/model.safetensors", model_.parameters, weights_for_use());
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
    write_weights(options_.folder + "/model.safetensors", model_.parameters, model_.parameters.weights());
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
  const auto weights = model_.parameters.weights();
  if (const auto checkpoint = checkpoints_.of_step(state_.best_step)) {
    read_weights(weights_path(checkpoint->path), model_.parameters);
    const std::vector<float> best(weights.begin(), weights.end());
    if (fs::exists(path)) read_weights(path, model_.parameters);
    if (!fs::exists(path) || std::memcmp(weights.data(), best.data(), weights.size_bytes()) != 0)
      write_weights(path, model_.parameters, best);
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
  const auto weights = model.parameters.weights();
  std::vector<double> sums(weights.size());
  for (const std::string& file : files) {
    read_weights(file, model.parameters);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(weights[i]);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    weights[i] = static_cast<float>(sums[i] / static_cast<double>(files.size()));
  model.parameters.changed();
}

}  // namespace dragoman
