#include <algorithm>
#include <iostream>
#include <numeric>

#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/signals.h"
#include "convert/exporters.h"
#include "data/synthetic.h"
#include "model/folder.h"
#include "model/weights.h"
#include "parallel/join.h"
#include "search/search.h"
#include "train/run.h"
#include "train/run_checks.h"
#include "train/training_device.h"

namespace dragoman::internal {
namespace {

enum class ExportedTo { nothing, huggingface, marian, bergamot };

void declare(Options& options, RunOptions& run, ExportedTo& exported_to) {
  auto own = options.section("", "Options");
  declare_run_folder(own, run.folder);
  own.add("resume", run.resume,
          "auto: resume from the newest checkpoint if there is one; never: fail if there is one; require: "
          "fail if there is none",
          {{"auto", Resume::automatic}, {"never", Resume::never}, {"require", Resume::require}});
  own.add("init-from", run.init_from,
          "model folder with the initial weights of a new run, and the options of [model] that are not set; "
          "--vocabulary.from takes its subwords, too")
      .shows("DIR");
  own.add("for", exported_to, "refuse a recipe whose model dragoman export could not express in this format",
          {{"dragoman", ExportedTo::nothing},
           {"huggingface", ExportedTo::huggingface},
           {"marian", ExportedTo::marian},
           {"bergamot", ExportedTo::bergamot}});
}

void check_exported_to(ExportedTo system, const Recipe& recipe) {
  if (system == ExportedTo::nothing) return;
  const bool by_marian = system == ExportedTo::marian;
  auto* const unmet = system == ExportedTo::huggingface ? unmet_by_huggingface
                      : by_marian                       ? unmet_by_marian
                                                        : unmet_by_bergamot;
  const char* const name = system == ExportedTo::huggingface ? "huggingface"
                           : by_marian                       ? "marian"
                                                             : "bergamot";
  const auto needed = unmet(recipe.model, recipe.vocabulary.source_eos);
  if (!needed.empty()) throw UsageError("--for {}: the recipe needs {}", name, fmt::join(needed, ", "));
}

// False if help was asked for, and there is nothing to train.
bool read(const Arguments& arguments, Recipe& recipe, RunOptions& run) {
  Options options;
  ExportedTo exported_to = ExportedTo::nothing;
  declare(options, run, exported_to);
  declare(options, recipe);
  std::string path;
  CommandLine line("train", summary_of("train"));
  add_recipe(line, path);
  line.add_options(options);
  if (!line.parse(arguments)) return false;

  options.read_recipe_file(path);
  line.set_flags();
  recipe.given = given_keys(options);
  if (run.folder.empty()) run.folder = default_run_folder(path);
  take_model(options, run);
  options.check([&] { validate(recipe); });
  check_exported_to(exported_to, recipe);
  return true;
}

// The example of a synthetic task: 1 2 3 … as far as there are symbols, and the output of the model that is kept.
void print_example(const Transformer& trained, const std::string& folder, const Recipe& recipe) {
  Transformer model(trained.config, trained.device, Buffers::none_yet);
  read_weights(weights_path(folder), model.parameters);
  std::vector<int32_t> sentence(static_cast<size_t>(std::min(recipe.data.length, recipe.data.symbols - 1)));
  std::iota(sentence.begin(), sentence.end(), 1);
  PackedSide source;
  source.add(sentence.data(), sentence.data() + sentence.size());
  const SearchOptions greedy = {
      .beam = 1, .max_length = static_cast<int64_t>(sentence.size()) - 1, .max_length_ratio = 0};
  const auto outputs = search_all(model, source, greedy, {.end = SyntheticTask::end});
  std::cout << fmt::format("source   {}\ndecoded  1 {}\n", fmt::join(sentence, " "),
                           fmt::join(outputs[0][0].tokens, " "));
}

// A task's symbols are no text to translate.
void say_what_next(Run& training, const Recipe& recipe, const std::string& folder) {
  if (recipe.data.synthetic != Synthetic::none) return print_example(training.model(), folder, recipe);
  const bool continues = recipe.model.kind == ModelKind::language_model;
  log_info("the model is in {}; to {} with it:", folder, continues ? "continue texts" : "translate");
  log_info("  dragoman {} -m {} \"...\"", continues ? "generate" : "translate", folder);
}

}  // namespace

void train(const Arguments& arguments) {
  Recipe recipe;
  RunOptions run;
  const std::unique_ptr<Processes> processes = join_processes();
  if (!processes->first()) set_log_level(LogLevel::off);
  // The first process alone reports errors and prints help.
  const int trains = processes->gather(int{processes->first() && read(arguments, recipe, run)})[0];
  if (trains != 0 && !processes->first()) read(arguments, recipe, run);
  if (trains != 0) {
    watch_signals();
    processes->set_heartbeat_timeout(recipe.training.heartbeat_timeout);
    use_training_device(*processes, recipe.training);
    Run training(recipe, run, *processes);
    training.train();
    if (processes->first()) say_what_next(training, recipe, run.folder);
  }
  processes->shutdown();
}

}  // namespace dragoman::internal
