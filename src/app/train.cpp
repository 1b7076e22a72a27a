#include "train/train.h"

#include <iostream>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/signals.h"
#include "parallel/join.h"

namespace dragoman::internal {
namespace {

void declare(Options& options, RunOptions& run) {
  auto own = options.section("", "Options");
  declare_run_folder(own, run.folder);
  own.add("resume", run.resume,
          "auto: resume from the newest checkpoint if there is one; never: fail if there is one; require: "
          "fail if there is none",
          {{"auto", Resume::automatic}, {"never", Resume::never}, {"require", Resume::require}});
  own.add("init-from", run.init_from,
          "model folder with the initial weights of a new run; --vocabulary.from takes its subwords, too");
}

// False if help was asked for, and there is nothing to train.
bool read(const Arguments& arguments, Recipe& recipe, RunOptions& run) {
  Options options;
  declare(options, run);
  declare(options, recipe);
  std::string path;
  CommandLine line("train", summary_of("train"));
  add_recipe(line, path);
  line.add_options(options);
  if (!line.parse(arguments)) return false;

  options.read_recipe_file(path);
  line.set_flags();
  options.check([&] { validate(recipe); });
  if (run.folder.empty()) run.folder = default_run_folder(path);
  return true;
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
    run_training(recipe, run, *processes, std::cout);
  }
  processes->leave();
}

}  // namespace dragoman::internal
