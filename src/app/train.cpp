#include "train/train.h"

#include <filesystem>
#include <iostream>

#include "app/command_line.h"
#include "app/commands.h"
#include "base/log.h"
#include "base/signals.h"
#include "parallel/join.h"

namespace dragoman {
namespace {

void declare(Options& options, RunOptions& run) {
  auto own = options.section("", "Where, and from where");
  own.add("out", run.folder, "the model's folder; models/NAME-OF-RECIPE where nothing is said");
  own.add("resume", run.resume,
          "go on from a checkpoint in it: where there is one, never, or else it is an error",
          {{"auto", Resume::automatic}, {"never", Resume::never}, {"require", Resume::require}});
  own.add("init-from", run.init_from,
          "a model's folder whose weights a new run begins with; its words, too: --vocabulary.from");
}

// False where there is nothing to train, since somebody asked for help.
bool read(const Arguments& arguments, Recipe& recipe, RunOptions& run) {
  Options options;
  declare(options, run);
  declare(options, recipe);
  std::string path;
  CommandLine line("train", "learn a model as a recipe says");
  line.add_argument("RECIPE", path, "a TOML file; the folder recipes/ holds commented ones");
  line.add_options(options);
  if (!line.parse(arguments)) return false;

  options.read_recipe_file(path);
  line.set_flags();
  options.check([&] { validate(recipe); });
  if (run.folder.empty()) run.folder = "models/" + std::filesystem::path(path).stem().string();
  return true;
}

}  // namespace

void train(const Arguments& arguments) {
  Recipe recipe;
  RunOptions run;
  const std::unique_ptr<Processes> processes = join_processes();
  if (!processes->first()) set_log_level(LogLevel::off);
  // The first one alone says what is wrong, and prints help.
  const int trains = processes->gather(int{processes->first() && read(arguments, recipe, run)})[0];
  if (trains != 0 && !processes->first()) read(arguments, recipe, run);
  if (trains != 0) {
    watch_signals();
    processes->set_heartbeat_timeout(recipe.training.heartbeat_timeout);
    run_training(recipe, run, *processes, std::cout);
  }
  processes->leave();
}

}  // namespace dragoman
