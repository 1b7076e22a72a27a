#include "train/train.h"

#include <iostream>

#include "app/command_line.h"
#include "app/commands.h"
#include "train/recipe.h"

namespace dragoman {

void train(const Arguments& arguments) {
  Recipe recipe;
  Options options;
  declare(options, recipe);

  std::string path;
  CommandLine line("train", "learn a model as a recipe says");
  line.add_argument("RECIPE", path, "a TOML file; the folder recipes/ holds commented ones");
  line.add_options(options);
  if (!line.parse(arguments)) return;

  options.read_recipe_file(path);
  line.set_flags();
  options.check([&] { validate(recipe); });
  run_training(recipe, std::cout);
}

}  // namespace dragoman
