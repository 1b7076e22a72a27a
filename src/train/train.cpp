#include "train/train.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include <fmt/ranges.h>

#include "data/synthetic.h"
#include "model/folder.h"
#include "model/weights.h"
#include "search/search.h"

namespace dragoman::internal {
namespace {

// The example of a synthetic task: 1 2 3 … as far as there are symbols, and the output of the model that is kept.
void show_example(Transformer& model, const std::string& folder, const Recipe& recipe,
                  std::ostream& results) {
  read_weights(weights_path(folder), model.parameters);
  std::vector<int32_t> sentence(static_cast<size_t>(std::min(recipe.data.length, recipe.data.symbols - 1)));
  std::iota(sentence.begin(), sentence.end(), 1);
  PackedSide source;
  source.add(sentence.data(), sentence.data() + sentence.size());
  const SearchOptions greedy = {
      .beam = 1, .max_length = static_cast<int64_t>(sentence.size()) - 1, .max_length_ratio = 0};
  const auto outputs = search_all(model, source, greedy, {.end = SyntheticTask::end});
  results << fmt::format("source   {}\ndecoded  1 {}\n", fmt::join(sentence, " "),
                         fmt::join(outputs[0][0].tokens, " "));
}

}  // namespace

void run_training(const Recipe& recipe, const RunOptions& options, Processes& processes,
                  std::ostream& results, TrainingObserver observer) {
  Run run(recipe, options, processes, std::move(observer));
  run.train();
  if (processes.first() && recipe.data.synthetic != Synthetic::none)
    show_example(run.model(), options.folder, recipe, results);
}

}  // namespace dragoman::internal
