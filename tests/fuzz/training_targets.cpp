#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "train/checkpoints.h"
#include "train/history.h"
#include "train/recipe.h"
#include "train/run_state.h"

namespace dragoman::internal {

std::string read_recipe(std::string_view bytes) {
  return refusal_of_recipe<Recipe>(bytes, [](Options&, Recipe&) {});
}

Seeds recipe_seeds() { return contents_of_all(source_folder / "recipes", ".toml"); }

// One a line: the option, an equals sign, and the text of its flag.
std::string read_flags(std::string_view bytes) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  std::string first;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    const size_t sign = std::min(line.find('='), line.size());
    const std::string refused = refusal([&] {
      options.set_flag(std::string(line.substr(0, sign)),
                       std::string(line.substr(std::min(sign + 1, line.size()))));
    });
    if (first.empty()) first = refused;
  }
  const std::string last = refusal([&] { validate(recipe); });
  return first.empty() ? last : first;
}

Seeds flag_seeds() {
  return {
      "training.max_steps=10\ndata.source=a,b\ndata.target=c,d\nmodel.d_model=64\nmodel.heads=8\ntraining."
      "epsilon=1e-9\ndata."
      "weights=1,0.5\nvalidation.metrics=loss,"
      "bleu",
      "training.max_epochs=3\ntraining.batch_tokens=auto\ndata.max_ratio=1e308\nmodel.norm=post\ndata.swap="
      "true"};
}

std::string read_metrics_history(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] { downsampled(read_history(file.path()).train, 3); });
}

Seeds metrics_seeds() {
  return {contents(fixture / "run/metrics.jsonl"), R"({"event":"train","step":1e19,"epoch":1e19})"
                                                   "\n"};
}

std::string read_checkpoint(std::string_view bytes) {
  static const TemporaryFolder& folder = copy_of(fixture / "run/checkpoints");
  folder.write("step-00000006/manifest.json", std::string(bytes));
  return refusal([&] {
    const Checkpoints checkpoints(folder.path(""), 3);
    const auto newest = checkpoints.newest();
    if (!newest) throw Error("no whole checkpoint");
    Checkpoints::read_state(*newest);
  });
}

Seeds checkpoint_seeds() { return {contents(fixture / "run/checkpoints/step-00000006/manifest.json")}; }

std::string read_run_state(std::string_view bytes) {
  static const TemporaryFolder& folder = copy_of(fixture / "run/checkpoints");
  folder.write("step-00000006/state.json", std::string(bytes));
  return refusal([&] {
    const CheckpointInfo checkpoint = {.step = 6, .path = folder.path("step-00000006")};
    const nlohmann::json saved = Checkpoints::read_state(checkpoint);
    try {
      RunState().from_json(saved.at("state"));
    } catch (const nlohmann::json::exception& error) {  // as RunStore::load does
      throw Error("{}", error.what());
    }
  });
}

Seeds run_state_seeds() { return {contents(fixture / "run/checkpoints/step-00000006/state.json")}; }

}  // namespace dragoman::internal
