#include "student/plan.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <queue>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/random.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/corpus.h"
#include "dragoman/translator.h"
#include "student/elapsed.h"
#include "train/batch_size.h"
#include "train/precision_choice.h"
#include "train/trainer.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

constexpr size_t measured_lines = 32;
// A subword has about four bytes in an alphabet, and in Chinese characters, whose subwords are shorter.
constexpr double bytes_per_token = 4;

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
  int64_t pairs = 0, monolingual = 0;  // lines
  double source_bytes = 0, target_bytes = 0, monolingual_bytes = 0;
  std::vector<std::string> sample;

  double lines() const { return static_cast<double>(pairs + monolingual); }
  // Of what the student learns from.
  double bytes() const { return source_bytes + target_bytes + 2 * monolingual_bytes; }
};

CorpusSize size_of(const StudentRecipe& recipe) {
  CorpusSize size;
  LineSample sample;
  const DataConfig& data = recipe.training.data;
  CorpusReader reader(corpus_sources(data), data.swap, data.limit);
  for (RawPair pair; reader.next(pair);) {
    if (pair.invalid || is_blank(pair)) continue;
    ++size.pairs;
    size.source_bytes += static_cast<double>(pair.source.size());
    size.target_bytes += static_cast<double>(pair.target.size());
    sample.add(pair.source);
  }
  for (const std::string& file : recipe.student.monolingual) {
    LineReader lines(file);
    for (std::string_view line; lines.next(line);) {
      ++size.monolingual;
      size.monolingual_bytes += static_cast<double>(line.size());
    }
  }
  if (size.pairs == 0)
    throw Error("there is no pair of sentences in {}", corpus_sources(data).front().name());
  size.sample = sample.take();
  return size;
}

double teaching_seconds_of_line(const StudentRecipe& recipe, const std::vector<std::string>& lines) {
  const TrainingConfig& training = recipe.training.training;
  dragoman::Translator teacher(recipe.student.teacher, {.device = training.device,
                                                        .threads = static_cast<int>(training.threads),
                                                        .precision = dragoman::Precision::int8});
  const dragoman::Options search = {{"beam", recipe.student.beam}, {"nbest", recipe.student.candidates}};
  teacher.translate(lines.front(), search);
  const auto begin = Clock::now();
  teacher.translate(lines, search);
  return seconds_since(begin) / static_cast<double>(lines.size());
}

// Sentences of twenty subwords a side.
Batch random_batch(const ModelConfig& model, int64_t tokens) {
  constexpr int64_t length = 20;
  Random random(1);
  Batch batch;
  for (int64_t pair = 0; pair * length < tokens; ++pair) {
    std::vector<int32_t> ids(length);
    for (int32_t& id : ids)
      id = static_cast<int32_t>(random.below(static_cast<uint64_t>(model.source_vocabulary)));
    batch.source.add(ids.data(), ids.data() + ids.size());
    batch.target_input.add(ids.data(), ids.data() + ids.size());
    batch.targets.insert(batch.targets.end(), ids.begin(), ids.end());
    batch.pairs.push_back(static_cast<uint64_t>(pair));
  }
  return batch;
}

double training_tokens_per_second(const Recipe& recipe) {
  constexpr int updates = 3;
  const TrainingConfig& training = recipe.training;
  ModelConfig config = recipe.model;
  config.source_vocabulary = config.target_vocabulary = recipe.vocabulary.size;
  Device device(training_kernels(training),
                training.threads > 0 ? static_cast<int>(training.threads) : available_threads());
  Transformer model(config, device, Buffers::weights_and_gradients);
  model.parameters.initialise(1);
  Trainer trainer(model, {.part_tokens = resolved_part_tokens(recipe, "")});
  const int64_t tokens = training.batch_tokens == automatic_batch_tokens ? 4096 : training.batch_tokens;
  const Batch batch = random_batch(config, tokens);
  trainer.update({&batch, 1}, 1e-4);
  const auto begin = Clock::now();
  for (int i = 0; i < updates; ++i) trainer.update({&batch, 1}, 1e-4);
  return updates * static_cast<double>(batch.source_tokens() + batch.target_tokens()) / seconds_since(begin);
}

// The first of the run's limits.
double training_seconds(const Recipe& recipe, const CorpusSize& size) {
  const TrainingConfig& training = recipe.training;
  const double speed = training_tokens_per_second(recipe), none = 1e300;
  double seconds = none;
  if (training.max_minutes > 0) seconds = 60 * training.max_minutes;
  if (training.max_epochs > 0)
    seconds =
        std::min(seconds, static_cast<double>(training.max_epochs) * size.bytes() / bytes_per_token / speed);
  if (training.max_steps > 0) {
    const auto update = static_cast<double>(2 * training.batch_tokens * training.accumulate);
    seconds = std::min(seconds, static_cast<double>(training.max_steps) * update / speed);
  }
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

}  // namespace

std::vector<PlannedStage> plan_student(const StudentRecipe& recipe) {
  const CorpusSize size = size_of(recipe);
  const double line = teaching_seconds_of_line(recipe, size.sample);
  const double parameters = parameters_of(recipe.training);
  const auto checkpoints = static_cast<double>(recipe.training.checkpoints.keep + 2);
  const double shards =
      size.bytes() / bytes_per_token * (recipe.training.vocabulary.size > (1 << 16) ? 4 : 2);
  const std::string pairs = with_commas(size.pairs) + " pairs";
  const std::string more =
      size.monolingual > 0 ? fmt::format(" and {} sentences", with_commas(size.monolingual)) : "";
  return {
      {.name = "clean",
       .what = "keeps what is worth learning of " + pairs + more,
       .bytes = size.source_bytes + size.target_bytes + size.monolingual_bytes},
      {.name = "taught",
       .what = fmt::format("the teacher translates {} sentences", with_commas(size.pairs + size.monolingual)),
       .seconds = line * size.lines(),
       .bytes = 2 * (size.target_bytes + size.monolingual_bytes)},
      {.name = "student",
       .what = fmt::format("trains {:.1f} million parameters", parameters * 1e-6),
       .seconds = training_seconds(recipe.training, size),
       .bytes = shards + (12 * checkpoints + 4) * parameters},
      {.name = "int8", .what = "quantises, and compares with the teacher", .bytes = parameters}};
}

std::string plan_table(const std::vector<PlannedStage>& stages, const std::string& folder) {
  std::string text;
  double seconds = 0, bytes = 0;
  for (const PlannedStage& stage : stages) {
    text += fmt::format("{:<10}{:<58}{:>10}{:>10}\n", stage.name, stage.what,
                        stage.seconds == 0 ? "moments" : time_text(stage.seconds), size_text(stage.bytes));
    seconds += stage.seconds;
    bytes += stage.bytes;
  }
  return text + fmt::format("{:<68}{:>10}{:>10}\n{} has {} free\n", "together", time_text(seconds),
                            size_text(bytes), folder, size_text(free_bytes(folder)));
}

}  // namespace dragoman::internal
