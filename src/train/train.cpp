#include "train/train.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include <fmt/ranges.h>

#include "search/search.h"

namespace dragoman::internal {
namespace {

// The example of a synthetic task: 1 2 3 … as far as there are symbols, and the model's output.
void show_example(Transformer& model, const Recipe& recipe, std::ostream& results) {
  std::vector<int32_t> sentence(static_cast<size_t>(std::min(recipe.data.length, recipe.data.symbols - 1)));
  std::iota(sentence.begin(), sentence.end(), 1);
  PackedSide source;
  source.add(sentence.data(), sentence.data() + sentence.size());
  const SearchOptions greedy = {
      .beam = 1, .max_length = static_cast<int64_t>(sentence.size()) - 1, .max_length_ratio = 0};
  const auto outputs = search_all(model, source, greedy, {.end = -1});
  results << fmt::format("source   {}\ndecoded  1 {}\n", fmt::join(sentence, " "),
                         fmt::join(outputs[0][0].tokens, " "));
}

}  // namespace

void run_training(const Recipe& recipe, const RunOptions& options, Processes& processes,
                  std::ostream& results, TrainingObserver observer) {
  Run run(recipe, options, processes, std::move(observer));
  run.train();
  if (processes.first() && recipe.data.synthetic != Synthetic::none)
    show_example(run.model(), recipe, results);
}

}  // namespace dragoman::internal
