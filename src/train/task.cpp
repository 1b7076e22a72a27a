#include "train/task.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "data/batches.h"
#include "data/sample.h"
#include "data/synthetic.h"
#include "text/symbol_vocabulary.h"
#include "train/batch_size.h"
#include "train/checkpoints.h"
#include "train/precision_choice.h"

namespace dragoman::internal {
namespace {

constexpr int64_t validation_batch = 64;  // sentences that validation translates together

uint64_t seed_for(const Recipe& recipe, const char* use) {
  return mix(static_cast<uint64_t>(recipe.training.seed), use);
}

std::string numbers_text(std::span<const int32_t> ids) { return fmt::format("{}", fmt::join(ids, " ")); }

// --- synthetic data ---------------------------------------------------------------------------------

SyntheticTask synthetic_task(const Recipe& recipe, const char* use) {
  return {.kind = recipe.data.synthetic,
          .symbols = recipe.data.symbols,
          .length = recipe.data.length,
          .sentences = recipe.data.sentences,
          .seed = seed_for(recipe, use)};
}

// The symbol that every sentence begins with, and what follows it.
std::string sentence_text(std::span<const int32_t> ids) {
  return ids.empty() ? std::to_string(SyntheticTask::start)
                     : fmt::format("{} {}", SyntheticTask::start, numbers_text(ids));
}

// A batch as text, with numbers for symbols.
void add_synthetic_texts(const Batch& batch, ValidationSet& set) {
  size_t source = 0, target = 0;
  for (size_t i = 0; i < batch.pairs.size(); ++i) {
    const auto n = static_cast<size_t>(batch.source.lengths[i]),
               m = static_cast<size_t>(batch.target_input.lengths[i]);
    set.source_texts.push_back(numbers_text({batch.source.ids.data() + source, n}));
    set.references.push_back(sentence_text({batch.targets.data() + target, m}));
    source += n;
    target += m;
  }
}

Task make_synthetic_task(const Recipe& recipe, const std::string& folder, const Processes& processes) {
  if (processes.first()) {
    const auto words = std::make_shared<const Vocabulary>(
        symbol_model(recipe.data.symbols), "the vocabulary of symbols",
        BoundaryTokens{.start = SyntheticTask::start, .end = SyntheticTask::end});
    std::filesystem::create_directories(folder);
    write_vocabularies(folder, {words, words});
  }
  Task task;
  task.training = std::make_unique<SyntheticBatches>(synthetic_task(recipe, "training"), recipe.data.batches);
  task.recipe = recipe;
  task.recipe.model.source_vocabulary = task.recipe.model.target_vocabulary = recipe.data.symbols;
  task.recipe.model.alignment_layer = guided_layer(recipe);
  task.start = SyntheticTask::start;
  task.end = SyntheticTask::end;
  task.target_length = recipe.data.length - 1;
  task.target_text = sentence_text;
  const SyntheticTask valid = synthetic_task(recipe, "validation");
  for (int64_t i = 0; i < recipe.data.valid_batches; ++i) {
    const Batch batch = valid.batch(static_cast<uint64_t>(i));
    task.validation.sources.push_back(batch.source);
    add_synthetic_texts(batch, task.validation);
    task.validation.batches.push_back(batch);
  }
  return task;
}

// --- a corpus ---------------------------------------------------------------------------------------

// The batches read the corpus.
struct CorpusBatches {
  CorpusBatches(PreparedCorpus prepared, const BatchSettings& settings)
      : corpus(std::move(prepared)), batches(corpus, settings) {}

  PreparedCorpus corpus;
  ShardedBatches batches;
};

// What a language model is to continue: the first quarter of a text.
TextPair with_beginning(TextPair pair, const Vocabulary& vocabulary) {
  const std::vector<int32_t> ids = vocabulary.encode(pair.target);
  pair.source = vocabulary.decode(std::span(ids).first((ids.size() + 3) / 4));
  return pair;
}

// Sentences of similar length are translated together.
void add_sources(std::vector<TextPair> pairs, const Vocabulary& vocabulary, const SourceFrame& frame,
                 ValidationSet& set) {
  struct Encoded {
    std::vector<int32_t> ids;
    size_t index;
  };
  std::vector<Encoded> encoded;
  for (size_t i = 0; i < pairs.size(); ++i) {
    encoded.push_back({vocabulary.encode(pairs[i].source), i});
    if (encoded.back().ids.empty())
      encoded.back().ids.push_back(vocabulary.special().unknown);  // as in batches_of
    frame.add_to(encoded.back().ids);
  }
  const size_t shown =
      std::min<size_t>(encoded.size(), validation_batch);  // so that the samples stay in front
  std::stable_sort(encoded.begin() + static_cast<std::ptrdiff_t>(shown), encoded.end(),
                   [](const Encoded& a, const Encoded& b) { return a.ids.size() < b.ids.size(); });
  for (const Encoded& sentence : encoded) {
    if (set.sources.empty() || set.sources.back().sentences() == validation_batch) set.sources.emplace_back();
    set.sources.back().add(sentence.ids.data(), sentence.ids.data() + sentence.ids.size());
    set.source_texts.push_back(std::move(pairs[sentence.index].source));
    set.references.push_back(std::move(pairs[sentence.index].target));
  }
}

// The weights of a run in progress belong to the vocabulary that it started with.
void check_same_vocabularies(const Vocabularies& now, const std::string& folder) {
  if (!std::filesystem::exists(folder + "/config.json")) return;
  const Vocabularies before = read_vocabularies(folder);
  if (now.source->model() == before.source->model() && now.target->model() == before.target->model()) return;
  throw Error(
      "the corpus has changed since the run in {} started, and its vocabulary with it: choose another "
      "folder (--out)",
      folder);
}

// A table of positions has none for longer sentences.
void leave_out_longer_than_positions(std::vector<TextPair>& pairs, const Recipe& recipe,
                                     const Vocabularies& vocabularies, const PairFrame& frame) {
  if (!has_fixed_length(recipe.model.positions)) return;
  const auto positions = static_cast<size_t>(recipe.model.max_positions);
  const size_t all = pairs.size();
  const size_t left_out = std::erase_if(pairs, [&](const TextPair& pair) {
    return vocabularies.source->encode(pair.source).size() + frame.source.size() > positions ||
           vocabularies.target->encode(pair.target).size() + frame.start.size() > positions;
  });
  if (left_out == 0) return;
  log_warning("validation: {} of {} pairs left out, longer than the {} tokens of model.max_positions",
              left_out, all, positions);
}

ValidationSet validation_set(std::vector<TextPair> pairs, const Recipe& recipe,
                             const Vocabularies& vocabularies, const BatchSettings& settings) {
  ValidationSet set;
  const PairFrame frame = pair_frame(vocabularies, settings);
  leave_out_longer_than_positions(pairs, recipe, vocabularies, frame);
  set.batches = batches_of(pairs, vocabularies, settings);
  if (settings.one_sided)
    for (TextPair& pair : pairs) pair = with_beginning(std::move(pair), *vocabularies.target);
  add_sources(pairs, *vocabularies.source, frame.source, set);
  return set;
}

// Earlier versions began such runs.
void check_validation(const Task& task, const std::string& folder) {
  if (!task.validation.empty() || !has_validation_set(task.recipe.data)) return;
  constexpr const char* what = "the validation set has no pair that can be used";
  if (!std::filesystem::exists(folder + "/checkpoints")) throw Error("{}: name another one", what);
  log_warning("{}: the training loss tells which model is the best", what);
}

nlohmann::json facts_of(const PreparedCorpus& corpus, const BatchSettings& settings) {
  const PaddingShares padding = padding_shares(corpus, settings);
  nlohmann::json facts = corpus.report;
  facts["padding_sorted"] = padding.sorted;
  facts["padding_unsorted"] = padding.unsorted;
  return facts;
}

BatchSettings settings_for(const Recipe& recipe) {
  return batch_settings(recipe.data, recipe.vocabulary, recipe.training.batch_tokens,
                        seed_for(recipe, "batches"));
}

// Of the encoded pairs, in their order.
std::string checksum_of(const PreparedCorpus& corpus) {
  uint64_t sum = corpus.shards.size();
  for (const uint64_t begin : corpus.source_begins) sum = mix(sum, begin);
  for (const Shard& shard : corpus.shards) sum = mix(sum, shard.content_checksum());
  for (const Shard& links : corpus.links) sum = mix(sum, links.content_checksum());
  return fmt::format("{:016x}", sum);
}

// What all processes have of a task.
Task corpus_task(const Recipe& recipe, PreparedCorpus corpus) {
  Task task;
  task.recipe = recipe;
  const PairFrame frame = pair_frame(corpus.vocabularies, settings_for(recipe));
  task.start = frame.start;
  task.end = frame.end;
  task.corpus = checksum_of(corpus);
  task.target_text = [target = corpus.vocabularies.target](std::span<const int32_t> ids) {
    return target->decode(ids);
  };
  const auto owner = std::make_shared<CorpusBatches>(std::move(corpus), settings_for(recipe));
  task.training = {owner, &owner->batches};
  return task;
}

Task make_first_corpus_task(const Recipe& recipe, const std::string& folder, int threads, int local_processes,
                            const std::function<bool()>& stop) {
  require_corpus(recipe.data);
  const std::string prepared = prepared_folder(folder);
  PreparedCorpus corpus =
      prepare_corpus(recipe.data, recipe.vocabulary, prepared, threads, stop, wanted_links(recipe));
  const Vocabularies vocabularies = corpus.vocabularies;
  check_same_vocabularies(vocabularies, folder);
  const Recipe complete = resolved(recipe, vocabularies, folder, local_processes);
  const BatchSettings settings = settings_for(complete);
  write_vocabularies(folder, vocabularies);
  std::vector<TextPair> validation = validation_pairs(recipe.data, prepared);
  // A resumed run keeps what it has: its user may have removed it, and is told below if the corpus has changed.
  if (!is_one_sided(recipe.data) && (!has_checkpoints(folder) || recipe.data.sample == 0)) {
    write_sample(corpus, recipe.data.sample, folder);
    write_unseen(recipe.data.sample > 0 ? validation : std::vector<TextPair>(), folder);
  }
  nlohmann::json facts = facts_of(corpus, settings);
  Task task = corpus_task(complete, std::move(corpus));
  task.validation = validation_set(std::move(validation), complete, vocabularies, settings);
  check_validation(task, folder);
  task.facts = std::move(facts);
  return task;
}

// The first process prepares the corpus, decides what is automatic and reports errors before the others begin.
Task make_corpus_task(Recipe recipe, const std::string& folder, Processes& processes,
                      const std::function<bool()>& stop) {
  // With all processors of the machine, not a process's share: the others wait for the first one.
  const int threads = thread_count(recipe.training, single_process());
  if (processes.first()) {
    Task task = make_first_corpus_task(recipe, folder, threads, processes.local_count(), stop);
    processes.gather(task.recipe.training.batch_tokens);
    return task;
  }
  recipe.training.batch_tokens = processes.gather(recipe.training.batch_tokens)[0];
  PreparedCorpus corpus = prepared_corpus(prepared_folder(folder), threads);
  const Recipe complete = resolved(recipe, corpus.vocabularies, folder);
  return corpus_task(complete, std::move(corpus));
}

}  // namespace

Recipe resolved(Recipe recipe, const Vocabularies& vocabularies, const std::string& folder,
                int local_processes) {
  recipe.model.source_vocabulary = vocabularies.source->size();
  recipe.model.target_vocabulary = vocabularies.target->size();
  recipe.model.alignment_layer = guided_layer(recipe);
  recipe.training.batch_tokens = resolved_batch_tokens(recipe, folder, local_processes);
  return recipe;
}

Links wanted_links(const Recipe& recipe) {
  return recipe.training.guided_alignment > 0 ? Links::learned : Links::none;
}

int thread_count(const TrainingConfig& training, const Processes& processes) {
  return training.threads > 0 ? static_cast<int>(training.threads) : processes.share_of_threads();
}

Task make_task(const Recipe& recipe, const std::string& folder, Processes& processes,
               const std::function<bool()>& stop) {
  Task task = recipe.data.synthetic != Synthetic::none ? make_synthetic_task(recipe, folder, processes)
                                                       : make_corpus_task(recipe, folder, processes, stop);
  TrainingPrecision& precision = task.recipe.training.precision;
  if (processes.first())
    precision = resolved_precision(task.recipe, folder, thread_count(recipe.training, processes));
  precision = processes.gather(precision)[0];
  int64_t& part_tokens = task.recipe.training.part_tokens;
  if (processes.first()) part_tokens = resolved_part_tokens(task.recipe, folder);
  part_tokens = processes.gather(part_tokens)[0];
  return task;
}

}  // namespace dragoman::internal
