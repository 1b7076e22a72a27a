#include "train/task.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/random.h"
#include "text/synthetic.h"

namespace dragoman {
namespace {

uint64_t seed_for(const Recipe& recipe, const char* use) {
  return mix(static_cast<uint64_t>(recipe.training.seed), use);
}

std::string numbers_text(std::span<const int32_t> ids) { return fmt::format("{}", fmt::join(ids, " ")); }

// --- made-up sentences ------------------------------------------------------------------------------

SyntheticTask synthetic_task(const Recipe& recipe, const char* use) {
  return {.kind = recipe.data.synthetic,
          .symbols = recipe.data.symbols,
          .length = recipe.data.length,
          .sentences = recipe.data.sentences,
          .seed = seed_for(recipe, use)};
}

// The texts of a batch, symbol by symbol as numbers; its first symbol is given, so the reference is without it.
void add_synthetic_texts(const Batch& batch, ValidationSet& set) {
  size_t source = 0, target = 0;
  for (size_t i = 0; i < batch.pairs.size(); ++i) {
    const auto n = static_cast<size_t>(batch.source.lengths[i]), m = static_cast<size_t>(batch.target_input.lengths[i]);
    set.source_texts.push_back(numbers_text({batch.source.ids.data() + source, n}));
    set.references.push_back(numbers_text({batch.targets.data() + target, m}));
    source += n;
    target += m;
  }
}

Task make_synthetic_task(const Recipe& recipe) {
  Task task;
  task.training = std::make_unique<SyntheticBatches>(synthetic_task(recipe, "training"), recipe.data.batches);
  task.source_vocabulary = task.target_vocabulary = recipe.data.symbols;
  task.end = -1;
  task.target_length = recipe.data.length - 1;
  task.target_text = numbers_text;
  const SyntheticTask valid = synthetic_task(recipe, "validation");
  for (int64_t i = 0; i < recipe.data.valid_batches; ++i) {
    const Batch batch = valid.batch(static_cast<uint64_t>(i));
    task.validation.sources.push_back(batch.source);
    add_synthetic_texts(batch, task.validation);
    task.validation.batches.push_back(batch);
  }
  return task;
}

Task make_corpus_task(const Recipe&, const std::string&) { throw Error("not yet"); }

}  // namespace

Task make_task(const Recipe& recipe, const std::string& folder) {
  if (recipe.data.synthetic != Synthetic::none) return make_synthetic_task(recipe);
  return make_corpus_task(recipe, folder);
}

}  // namespace dragoman
