// dragoman student: from any teacher to a small, fast model.
#include "student/student.h"

#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/files.h"
#include "base/log.h"
#include "base/signals.h"
#include "parallel/join.h"
#include "serve/fasttext.h"
#include "student/comparison.h"
#include "student/config.h"
#include "student/evaluation_text.h"
#include "student/plan.h"

namespace dragoman::internal {
namespace {

struct StudentCommand {
  StudentRecipe recipe;
  std::string folder;
  bool dry_run = false;
};

// One spelling for one folder: models/x for models/x/ and ./models/x.
std::string normal_path(const std::string& folder) {
  return without_final_slashes(std::filesystem::path(folder).lexically_normal().string());
}

// False if help was asked for.
bool read(const Arguments& arguments, StudentCommand& command) {
  StudentRecipe& recipe = command.recipe;
  std::string path;
  Options options;
  auto own = options.section("", "Options");
  declare_run_folder(own, command.folder);
  own.add("dry-run", command.dry_run,
          "only say what it will do, how long that is likely to take here, and how much disk it needs");
  declare(options, recipe);
  CommandLine line("student", summary_of("student"));
  add_recipe(line, path);
  line.add_options(options);
  if (!line.parse(arguments)) return false;
  options.read_recipe_file(path);
  line.set_flags();
  recipe.training.given = given_keys(options);
  take_size(options, recipe.student.size);
  command.folder = command.folder.empty() ? default_run_folder(path) : normal_path(command.folder);
  options.check([&] { validate(recipe); });
  return true;
}

// In the first process: whether there is more to do. Mistakes in text that is needed only at the end, after days, are
// reported now.
bool begin(const Arguments& arguments, StudentCommand& command, int processes) {
  if (!read(arguments, command)) return false;
  watch_signals();
  read_validation_files(command.recipe);
  read_test_files(command.recipe);
  std::cout << plan_table(plan_student(command.recipe, command.folder, processes), command.folder)
            << std::flush;
  return !command.dry_run;
}

void make(const StudentCommand& command, Processes& processes) {
  const std::string& detector = command.recipe.cleaning_models.detector;
  const auto identifier = detector.empty() || !processes.first() ? nullptr : open_fasttext(detector);
  const nlohmann::ordered_json result =
      make_student(command.recipe, command.folder, processes, identifier.get());
  if (!processes.first()) return;
  std::cout << comparison_table(result.at("comparison"));
  log_info("the student is in {0}/int8; to translate with it: dragoman translate -m {0}/int8 \"...\"",
           command.folder);
}

}  // namespace

void student(const Arguments& arguments) {
  StudentCommand command;
  const std::unique_ptr<Processes> processes = join_processes();
  if (!processes->first()) set_log_level(LogLevel::off);
  // The first process alone reports errors, and prints help and plan.
  const bool first = processes->first();
  const int works = processes->gather(int{first && begin(arguments, command, processes->count())})[0];
  if (works != 0) {
    if (!first) read(arguments, command);
    watch_signals();
    processes->set_heartbeat_timeout(command.recipe.training.training.heartbeat_timeout);
    make(command, *processes);
  }
  processes->shutdown();
}

}  // namespace dragoman::internal
