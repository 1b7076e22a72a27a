#include "student/plan.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <queue>

#include <fmt/format.h>

#include "base/elapsed.h"
#include "base/lines.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/corpus.h"
#include "dragoman/translator.h"
#include "student/backward.h"
#include "student/model_languages.h"
#include "student/stages.h"
#include "train/batch_size.h"
#include "train/precision_choice.h"
#include "train/random_words.h"
#include "train/run.h"
#include "train/trainer.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

constexpr size_t measured_lines = 32;
// A subword has about four bytes in an alphabet, and in Chinese characters, whose subwords are shorter.
constexpr double bytes_per_token = 4;
constexpr int64_t guessed_batch_tokens = 4096;  // where training will measure what fits

// A sample of lines, the same for the same text: those with the smallest hashes.
class LineSample {
 public:
  void add(std::string_view line) {
    smallest_.emplace(XXH3_64bits(line.data(), line.size()), line);
    if (smallest_.size() > measured_lines) smallest_.pop();
  }
  std::vector<std::string> take() {
    std::vector<std::string> lines;
    for (; !smallest_.empty(); smallest_.pop()) lines.push_back(smallest_.top().second);
    return lines;
  }

 private:
  std::priority_queue<std::pair<uint64_t, std::string>> smallest_;
};

struct CorpusSize {
  int64_t pairs = 0, monolingual = 0, monolingual_target = 0;  // lines
  double source_bytes = 0, target_bytes = 0, monolingual_bytes = 0, monolingual_target_bytes = 0;
  std::vector<std::string> sources, targets;  // samples

  // Of the sources that are taught, with a translation of each.
  double taught_bytes() const { return source_bytes + target_bytes + 2 * monolingual_bytes; }
  // Of what the student learns from, with this many translations of each source.
  double bytes(int64_t translations) const {
    return static_cast<double>(translations) * taught_bytes() + 2 * monolingual_target_bytes;
  }
  // Of an epoch: so that this share of it was translated back, such text is repeated, or left out in part.
  double epoch_bytes(double backward_share) const { return taught_bytes() / (1 - backward_share); }
};

void add_lines(const std::vector<std::string>& files, int64_t& count, double& bytes) {
  for (const std::string& file : files) {
    LineReader lines(file);
    for (std::string_view line; lines.next(line);) {
      ++count;
      bytes += static_cast<double>(line.size());
    }
  }
}

CorpusSize size_of(const StudentRecipe& recipe) {
  CorpusSize size;
  LineSample sources, targets;
  const DataConfig& data = recipe.training.data;
  CorpusReader reader(corpus_sources(data), data.swap, data.limit);
  for (RawPair pair; reader.next(pair);) {
    if (pair.invalid || is_blank(pair)) continue;
    ++size.pairs;
    size.source_bytes += static_cast<double>(pair.source.size());
    size.target_bytes += static_cast<double>(pair.target.size());
    sources.add(pair.source);
    targets.add(pair.target);
  }
  add_lines(recipe.student.monolingual, size.monolingual, size.monolingual_bytes);
  add_lines(recipe.student.monolingual_target, size.monolingual_target, size.monolingual_target_bytes);
  if (size.pairs == 0)
    throw Error("there is no pair of sentences in {}", corpus_sources(data).front().name());
  size.sources = sources.take();
  size.targets = targets.take();
  return size;
}

double seconds_of_line(const std::vector<std::string>& models, const TrainingConfig& training,
                       dragoman::Options search, const std::string& from, const std::string& to,
                       const std::vector<std::string>& lines) {
  dragoman::Translator translator(models, {.device = training.device,
                                           .threads = static_cast<int>(training.threads),
                                           .precision = dragoman::Precision::int8});
  std::ranges::copy(language_options(translator, from, to), std::back_inserter(search));
  translator.translate(lines.front(), search);
  const auto begin = std::chrono::steady_clock::now();
  translator.translate(lines, search);
  return seconds_since(begin) / static_cast<double>(lines.size());
}

double training_tokens_per_second(Recipe recipe) {
  constexpr int updates = 3;
  constexpr int64_t subwords = 20;  // of a side of a sentence
  TrainingConfig& training = recipe.training;
  ModelConfig& config = recipe.model;
  config.source_vocabulary = config.target_vocabulary = recipe.vocabulary.size;
  const int threads = training.threads > 0 ? static_cast<int>(training.threads) : available_threads();
  training.precision = resolved_precision(recipe, "", threads);
  training.part_tokens = resolved_part_tokens(recipe, "");
  training.guided_alignment = 0;  // the batch has no links
  Device device(training_kernels(training), threads);
  Transformer model(config, device, Buffers::weights_and_gradients);
  model.parameters.initialise(1);
  Trainer trainer(model, update_options(training));
  const int64_t tokens =
      training.batch_tokens == automatic_batch_tokens ? guessed_batch_tokens : training.batch_tokens;
  const Batch batch = batch_of_random_words(config, (tokens + subwords - 1) / subwords, subwords);
  trainer.update({&batch, 1}, 1e-4);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < updates; ++i) trainer.update({&batch, 1}, 1e-4);
  return updates * static_cast<double>(batch.source_tokens() + batch.target_tokens()) / seconds_since(begin);
}

double seconds_of_updates(const TrainingConfig& training, int64_t updates, double tokens_per_second) {
  const int64_t tokens =
      training.batch_tokens == automatic_batch_tokens ? guessed_batch_tokens : training.batch_tokens;
  return static_cast<double>(2 * updates * tokens * training.accumulate) / tokens_per_second;
}

// The first of the run's limits.
double training_seconds(const Recipe& recipe, double epoch_bytes, double speed) {
  const TrainingConfig& training = recipe.training;
  constexpr double none = 1e300;
  double seconds = none;
  if (training.max_minutes > 0) seconds = 60 * training.max_minutes;
  if (training.max_epochs > 0)
    seconds =
        std::min(seconds, static_cast<double>(training.max_epochs) * epoch_bytes / bytes_per_token / speed);
  if (training.max_steps > 0)
    seconds = std::min(seconds, seconds_of_updates(training, training.max_steps, speed));
  return seconds == none ? -1 : seconds;
}

double parameters_of(const Recipe& recipe) {
  ModelConfig config = recipe.model;
  config.source_vocabulary = config.target_vocabulary = recipe.vocabulary.size;
  Device device(chosen_kernels(), 1);
  const Transformer model(config, device, Buffers::none_yet);
  int64_t parameters = 0;
  for (const Parameter& parameter : model.parameters.list()) parameters += parameter.size();
  return static_cast<double>(parameters);
}

std::string time_text(double seconds) {
  if (seconds < 0) return "until validation ends it";
  if (seconds == 0) return "moments";
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string size_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes * 1e-3);
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes * 1e-6) : fmt::format("{:.1f} GB", bytes * 1e-9);
}

// The nearest folder above that exists.
double free_bytes(const std::string& folder) {
  std::filesystem::path place = std::filesystem::absolute(folder);
  std::error_code none;
  while (!std::filesystem::exists(place, none) && place.has_parent_path()) place = place.parent_path();
  return static_cast<double>(std::filesystem::space(place, none).available);
}

PlannedStage done_stage(const char* name) { return {.name = name, .what = "is done", .done = true}; }

PlannedStage plan_clean(const CorpusSize& size) {
  return {.name = "clean",
          .what = fmt::format("keeps what is worth learning of {} pairs", with_commas(size.pairs)),
          .bytes = size.source_bytes + size.target_bytes};
}

PlannedStage plan_backward(const StudentRecipe& recipe, const CorpusSize& size, int processes) {
  const DataConfig& data = recipe.training.data;
  const double line = seconds_of_line(recipe.student.backward, recipe.training.training, backward_search(),
                                      data.to, data.from, size.targets);
  return {.name = "backward",
          .what = fmt::format("translates {} sentences back", with_commas(size.monolingual_target)),
          .seconds = line * static_cast<double>(size.monolingual_target) / processes,
          .bytes = 4 * size.monolingual_target_bytes};
}

double seconds_of_taught_line(const StudentRecipe& recipe, const CorpusSize& size, int processes) {
  const StudentConfig& c = recipe.student;
  const DataConfig& data = recipe.training.data;
  return seconds_of_line(c.teacher, recipe.training.training, {{"beam", c.beam}, {"nbest", c.candidates}},
                         data.from, data.to, size.sources) /
         processes;
}

// `line`: seconds of one. Translations are there as parts first.
PlannedStage plan_taught(const char* name, int64_t lines, double line, double bytes) {
  return {.name = name,
          .what = fmt::format("the teacher translates {} sentences", with_commas(lines)),
          .seconds = line * static_cast<double>(lines),
          .bytes = 2 * bytes};
}

// Both stages in which the teacher translates.
void add_taught_stages(const StudentRecipe& recipe, const DoneStages& done, const CorpusSize& size,
                       int processes, std::vector<PlannedStage>& stages) {
  const StudentConfig& c = recipe.student;
  const double line = done.taught && done.monolingual ? 0 : seconds_of_taught_line(recipe, size, processes);
  const auto translations = static_cast<double>(c.taught_translations());
  stages.push_back(done.taught ? done_stage("taught")
                               : plan_taught("taught", size.pairs, line, translations * size.target_bytes));
  if (c.monolingual.empty()) return;
  stages.push_back(done.monolingual ? done_stage("monolingual")
                                    : plan_taught("monolingual", size.monolingual, line,
                                                  (0.5 + translations) * size.monolingual_bytes));
}

PlannedStage plan_training(const StudentRecipe& student, const CorpusSize& size, double parameters,
                           double speed) {
  const Recipe& recipe = student.training;
  const StudentConfig& c = student.student;
  const auto checkpoints = static_cast<double>(recipe.checkpoints.keep + 2);
  const double shards =
      size.bytes(c.taught_translations()) / bytes_per_token * (recipe.vocabulary.size > (1 << 16) ? 4 : 2);
  return {
      .name = "student",
      .what = fmt::format("trains {:.1f} million parameters", parameters * 1e-6),
      .seconds = training_seconds(recipe, size.epoch_bytes(c.backward.empty() ? 0 : c.backward_share), speed),
      .bytes = shards + (12 * checkpoints + 4) * parameters};
}

PlannedStage plan_tuning(const StudentRecipe& recipe, double parameters, double speed) {
  const Recipe tuning = tuning_recipe(recipe.training, recipe.student.int8_steps);
  const auto checkpoints = static_cast<double>(tuning.checkpoints.keep + 2);
  return {.name = "tuned",
          .what = "fine-tunes it with int8 weights",
          .seconds = seconds_of_updates(tuning.training, tuning.training.max_steps, speed),
          .bytes = (12 * checkpoints + 4) * parameters};
}

}  // namespace

std::vector<PlannedStage> plan_student(const StudentRecipe& recipe, const std::string& folder,
                                       int processes) {
  const DoneStages done = done_stages(recipe, folder);
  const double parameters = parameters_of(recipe.training);
  const double speed = done.tuned ? 0 : training_tokens_per_second(recipe.training);
  const CorpusSize size = done.student ? CorpusSize() : size_of(recipe);
  std::vector<PlannedStage> stages;
  stages.push_back(done.clean ? done_stage("clean") : plan_clean(size));
  if (!recipe.student.backward.empty())
    stages.push_back(done.backward ? done_stage("backward") : plan_backward(recipe, size, processes));
  add_taught_stages(recipe, done, size, processes, stages);
  stages.push_back(done.student ? done_stage("student") : plan_training(recipe, size, parameters, speed));
  if (recipe.student.int8_steps > 0)
    stages.push_back(done.tuned ? done_stage("tuned") : plan_tuning(recipe, parameters, speed));
  stages.push_back(done.int8 ? done_stage("int8")
                             : PlannedStage{.name = "int8",
                                            .what = "quantises, and compares with the teacher",
                                            .bytes = parameters});
  return stages;
}

std::string plan_table(const std::vector<PlannedStage>& stages, const std::string& folder) {
  std::string text;
  double seconds = 0, bytes = 0;
  bool open_end = false;
  for (const PlannedStage& stage : stages) {
    if (stage.done) {
      text += fmt::format("{:<12}{}\n", stage.name, stage.what);
      continue;
    }
    text += fmt::format("{:<12}{:<58}{:>10}{:>10}\n", stage.name, stage.what, time_text(stage.seconds),
                        size_text(stage.bytes));
    open_end = open_end || stage.seconds < 0;
    seconds += std::max(stage.seconds, 0.0);
    bytes += stage.bytes;
  }
  return text + fmt::format("{:<60}{:>20}{:>10}\n{} has {} free\n", "together",
                            (open_end ? "more than " : "") + time_text(seconds), size_text(bytes), folder,
                            size_text(free_bytes(folder)));
}

}  // namespace dragoman::internal
