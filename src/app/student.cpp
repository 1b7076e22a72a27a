// dragoman student: from any teacher to a small, fast model.
#include "student/student.h"

#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/log.h"
#include "base/signals.h"
#include "student/comparison.h"
#include "student/config.h"
#include "student/plan.h"

namespace dragoman::internal {

void student(const Arguments& arguments) {
  StudentRecipe recipe;
  std::string path, folder;
  bool dry_run = false;
  Options options;
  auto own = options.section("", "Options");
  declare_run_folder(own, folder);
  own.add("dry-run", dry_run,
          "only say what it will do, how long that is likely to take here, and how much disk it needs");
  declare(options, recipe);
  CommandLine line("student", summary_of("student"));
  add_recipe(line, path);
  line.add_options(options);
  if (!line.parse(arguments)) return;
  options.read_recipe_file(path);
  line.set_flags();
  recipe.training.given = given_keys(options);
  take_size(options, recipe.student.size);
  if (folder.empty()) folder = default_run_folder(path);
  options.check([&] { validate(recipe); });
  watch_signals();
  std::cout << plan_table(plan_student(recipe), folder) << std::flush;
  if (dry_run) return;
  const nlohmann::ordered_json result = make_student(recipe, folder);
  std::cout << comparison_table(result.at("comparison"));
  log_info("the student is in {0}/int8; to translate with it: dragoman translate -m {0}/int8 \"...\"",
           folder);
}

}  // namespace dragoman::internal
