#include "train/run_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/log.h"

namespace dragoman::internal {
namespace {

nlohmann::json json_of(const LossSums& sums) {
  nlohmann::json json = {{"smoothed", sums.smoothed},
                         {"log_likelihood", sums.unsmoothed},
                         {"source_tokens", sums.source_tokens},
                         {"target_tokens", sums.target_tokens}};
  if (sums.linked_tokens == 0) return json;
  json["alignment"] = sums.alignment;
  json["linked_tokens"] = sums.linked_tokens;
  return json;
}

LossSums sums_of(const nlohmann::json& json) {
  LossSums sums = {.smoothed = json.at("smoothed"),
                   .unsmoothed = json.at("log_likelihood"),
                   .source_tokens = integer_at(json, "source_tokens"),
                   .target_tokens = integer_at(json, "target_tokens")};
  if (!json.contains("linked_tokens")) return sums;
  sums.alignment = json.at("alignment");
  sums.linked_tokens = integer_at(json, "linked_tokens");
  return sums;
}

std::string name_of(KeepBestBy by) {
  return std::ranges::find(names_of_best_by(), by, &std::pair<std::string, KeepBestBy>::second)->first;
}

std::optional<KeepBestBy> best_by_of(const std::string& name) {
  for (const auto& [known, by] : names_of_best_by())
    if (known == name) return by;
  return std::nullopt;
}

}  // namespace

bool ValidationRecord::add(int64_t step, double value, KeepBestBy value_is) {
  if (by && *by != value_is) {
    log_info("the best model is now chosen by {}, not {}: from this step on", name_of(value_is),
             name_of(*by));
    *this = {};
  }
  by = value_is;
  const bool better =
      best_step < 0 || (is_of_translations(value_is) ? value > best_value : value < best_value);
  last_step = step;
  if (std::isnan(value) || !better) {
    ++without_improvement;
    return false;
  }
  best_step = step;
  best_value = value;
  without_improvement = 0;
  return true;
}

std::optional<KeepBestBy> saved_best_by(const std::string& folder) {
  const nlohmann::json saved = saved_value(folder, "validation/keep_best_by");
  return saved.is_string() ? best_by_of(saved) : std::nullopt;
}

nlohmann::json RunState::to_json() const {
  nlohmann::json json = {{"epoch", position.epoch},
                         {"index", position.index},
                         {"seconds", seconds},
                         {"recent_sums", json_of(recent_sums)},
                         {"recent_seconds", recent_seconds},
                         {"epoch_sums", json_of(epoch_sums)},
                         {"validated_seconds", validated_seconds},
                         {"best_step", validations.best_step},
                         {"best_value", validations.best_value},
                         {"without_improvement", validations.without_improvement},
                         {"validated_step", validations.last_step},
                         {"cooldown_step", cooldown.step},
                         {"cooldown_patience", cooldown.patience},
                         {"batches_per_update", batches_per_update},
                         {"batches_in_epoch", batches_in_epoch},
                         {"guard", guard.to_json()}};
  if (validations.by) json["best_by"] = name_of(*validations.by);
  return json;
}

void RunState::from_json(const nlohmann::json& saved) {
  position = {integer_at(saved, "epoch"), integer_at(saved, "index")};
  seconds = saved.at("seconds");
  recent_sums = sums_of(saved.at("recent_sums"));
  recent_seconds = saved.at("recent_seconds");
  epoch_sums = saved.contains("epoch_sums") ? sums_of(saved.at("epoch_sums")) : LossSums{};
  validations = {.last_step = integer_at(saved, "validated_step"),
                 .best_step = integer_at(saved, "best_step"),
                 .best_value = saved.at("best_value"),
                 .without_improvement = integer_at(saved, "without_improvement")};
  validations.by = best_by_of(saved.value("best_by", ""));
  if (saved.contains("cooldown_step"))
    cooldown = {integer_at(saved, "cooldown_step"), integer_at(saved, "cooldown_patience")};
  validated_seconds = saved.value("validated_seconds", 0.0);
  if (saved.contains("batches_per_update")) batches_per_update = integer_at(saved, "batches_per_update");
  if (saved.contains("batches_in_epoch")) batches_in_epoch = integer_at(saved, "batches_in_epoch");
  guard.from_json(saved.at("guard"));
}

}  // namespace dragoman::internal
