// dragoman demo: a small English-French translator, trained and tried in minutes.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "base/signals.h"
#include "search/search.h"
#include "text/vocabulary.h"
#include "train/run.h"

namespace dragoman {
namespace {

constexpr const char* recipe_path = "recipes/demo.toml";

constexpr const char* sentences[] = {
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

void translate_and_print(Transformer& model, const Vocabularies& vocabularies, bool source_eos) {
  PackedSide source;
  for (const char* sentence : sentences) {
    std::vector<int32_t> ids = vocabularies.source->encode(sentence);
    if (source_eos) ids.push_back(eos_id);
    source.add(ids.data(), ids.data() + ids.size());
  }
  const auto outputs = search_all(model, source, {}, {.start = bos_id, .end = eos_id});
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::cout << fmt::format("{:<38}{}\n", sentences[i], vocabularies.target->decode(outputs[i][0].tokens));
  }
}

constexpr const char* what_next = R"(
The model is in {0}. What to try next:
  dragoman train {1} --training.max_minutes 30     the same, longer: it goes on from here
  dragoman train recipes/tatoeba-en-fr.toml                   a better model, in an hour
  dragoman report {0}                                 the curves, as a page
  dragoman prepare {1} --show 5                    what the model reads
)";

}  // namespace

void demo(const Arguments& arguments) {
  Recipe recipe;
  RunOptions run = {.folder = "models/demo"};
  Options options;
  declare(options, recipe);
  CommandLine line("demo", "train a small English-French translator for some minutes, and try it");
  line.add_options(options);
  if (!line.parse(arguments)) return;
  if (!std::filesystem::exists(recipe_path)) {
    throw Error(
        "{} is not here: run dragoman demo in the folder of the project, which has the recipe and its corpus",
        recipe_path);
  }
  options.read_recipe_file(recipe_path);
  line.set_flags();
  options.check([&] { validate(recipe); });
  watch_signals();
  Run training(recipe, run);
  training.train();
  translate_and_print(training.model(), read_vocabularies(run.folder), recipe.vocabulary.source_eos);
  std::cout << fmt::format(what_next, run.folder, recipe_path);
}

}  // namespace dragoman
