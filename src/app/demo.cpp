// dragoman demo: a small English-French translator, trained and tried in minutes.
#include <cerrno>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/translating.h"
#include "base/signals.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

constexpr const char* recipe_path = "recipes/demo.toml";

constexpr const char* demo_sentences[] = {
    "I love you.",
    "Where is the station?",
    "Good morning!",
    "What time is it?",
    "She is reading a book.",
    "I don't understand.",
    "We are going to the beach tomorrow.",
    "Can you help me?",
    "He has two brothers.",
    "I would like a cup of coffee.",
    "It's very cold today.",
    "My father works in a hospital.",
};

void translate_and_print(const std::string& folder, const TrainingConfig& training) {
  dragoman::Translator translator(folder,
                                  {.device = training.device, .threads = static_cast<int>(training.threads)});
  const std::vector<std::string> texts(std::begin(demo_sentences), std::end(demo_sentences));
  for (const dragoman::Translation& translation : translator.translate(texts))
    std::cout << fmt::format("{:<38}{}\n", translation.source, translation.text());
}

constexpr const char* what_next = R"(
The model is in {0}. What to try next:

  translate your own sentences       echo "How are you?" | {1} translate --model {0}
  train the same model longer        {1} train {2} --training.max_minutes 30
  train a better one, in an hour     {1} train recipes/tatoeba-en-fr.toml
  see the training curves            {1} report {0} --out page.html
  see what the model reads           {1} prepare {2} --show 5
  translate in your browser          {1} serve --model {0}
)";

}  // namespace

void demo(const Arguments& arguments) {
  Recipe recipe;
  RunOptions run = {.folder = "models/demo"};
  Options options;
  declare(options, recipe);
  CommandLine line("demo", summary_of("demo"));
  line.add_options(options);
  if (!line.parse(arguments)) return;
  if (!std::filesystem::exists(recipe_path)) {
    throw Error(
        "{} not found: run dragoman demo in the project's folder, which has the recipe and its corpus",
        recipe_path);
  }
  options.read_recipe_file(recipe_path);
  line.set_flags();
  recipe.given = given_keys(options);
  options.check([&] { validate(recipe); });
  watch_signals();
  Run(recipe, run).train();
  translate_and_print(run.folder, recipe.training);
  std::cout << fmt::format(what_next, run.folder, program_invocation_name, recipe_path);
}

}  // namespace dragoman::internal
