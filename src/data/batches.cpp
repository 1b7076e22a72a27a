#include "data/batches.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "data/epoch_stream.h"
#include "data/pair_loader.h"
#include "text/language_tokens.h"

namespace dragoman::internal {
namespace {

// Consecutive entries of a pool.
struct Cut {
  size_t begin, end;
};

// Fills each batch up to the budget; an entry beyond the budget is a batch of its own.
std::vector<Cut> cut_by_budget(const std::vector<PooledPair>& entries, int64_t budget) {
  std::vector<Cut> cuts;
  int64_t source = 0, target = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    source += entries[i].source_length;
    target += entries[i].target_length;
    if (cuts.empty() || std::max(source, target) > budget) {
      cuts.push_back({i, i});
      source = entries[i].source_length;
      target = entries[i].target_length;
    }
    cuts.back().end = i + 1;
  }
  return cuts;
}

void sort_by_length(std::vector<PooledPair>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const PooledPair& a, const PooledPair& b) {
    return std::pair(a.target_length, a.source_length) < std::pair(b.target_length, b.source_length);
  });
}

void add_pair(Batch& batch, uint64_t pair, std::vector<int32_t>& source, std::vector<int32_t>& target,
              const PairFrame& frame) {
  batch.pairs.push_back(pair);
  frame.source.add_to(source);
  batch.source.add(source.data(), source.data() + source.size());
  target.insert(target.begin(), frame.start.all().begin(), frame.start.all().end());
  batch.targets.insert(batch.targets.end(), target.begin() + 1, target.end());
  batch.targets.push_back(frame.end);
  batch.target_input.add(target.data(), target.data() + target.size());
}

// Of the pair that was added last. A piece is predicted after all start tokens.
void add_links(Batch& batch, const std::vector<Link>& links, const PairFrame& frame) {
  const size_t first = batch.links.counts.size() + static_cast<size_t>(frame.start.size()) - 1;
  batch.links.counts.resize(batch.targets.size());
  for (const Link& link : links) {
    ++batch.links.counts[first + static_cast<size_t>(link.target)];
    batch.links.sources.push_back(link.source + static_cast<int32_t>(frame.source.before.size()));
  }
}

}  // namespace

BatchSettings batch_settings(const DataConfig& data, const VocabularyConfig& vocabulary, int64_t batch_tokens,
                             uint64_t seed) {
  return {.batch_tokens = batch_tokens,
          .seed = seed,
          .source_eos = vocabulary.source_eos,
          .one_sided = is_one_sided(data),
          .sort_by_length = data.sort_by_length,
          .order = data.order,
          .weights = source_weights(data),
          .sampling = vocabulary.sampling,
          .tags = data.noise.tags,
          .max_length = data.max_length,
          .from = data.from,
          .to = data.to};
}

PairFrame pair_frame(const Vocabularies& vocabularies, const BatchSettings& settings) {
  const Vocabulary &source = *vocabularies.source, &target = *vocabularies.target;
  return {.source = settings.one_sided
                        ? SourceFrame()
                        : source_frame(source, settings.source_eos,
                                       source_language_token(source, settings.from, "data.from", settings.to,
                                                             "data.to")),
          .start = start_tokens(target, language_token(target, settings.to, "data.to")),
          .end = target.special().end};
}

struct ShardedBatches::State {
  const PreparedCorpus& corpus;
  const BatchSettings settings;
  const PairFrame frame;
  PairLoader loader;
  std::optional<EpochStream> stream;
  DataPosition position;
  std::vector<PooledPair> pool;
  std::vector<Cut> cuts;  // of the pool, in the order of the batches
  size_t next_cut = 0;
  uint64_t pools = 0;         // read so far in this epoch
  int64_t known_batches = 0;  // in the last completed epoch

  State(const PreparedCorpus& c, const BatchSettings& s)
      : corpus(c),
        settings(s),
        frame(pair_frame(c.vocabularies, s)),
        loader(c, loader_settings()),
        stream(std::in_place, c, stream_settings(), 0) {}

  LoaderSettings loader_settings() const {
    return {.seed = settings.seed,
            .source_marks = static_cast<int32_t>(frame.source_tokens()),
            .target_marks = static_cast<int32_t>(frame.target_tokens()),
            .sampling = settings.sampling,
            .tags = settings.tags,
            .max_length = settings.max_length};
  }
  StreamSettings stream_settings() const { return {settings.seed, settings.order, settings.weights}; }

  void begin_epoch(int64_t epoch) {
    position = {.epoch = epoch};
    stream.emplace(corpus, stream_settings(), epoch);
    pool.clear();
    cuts.clear();
    next_cut = pools = 0;
  }

  // False at the end of the epoch.
  bool read_pool() {
    const int64_t budget = settings.batch_tokens * settings.pool_batches;
    pool.clear();
    stream->release_finished_shards();
    PairPlace place;
    for (int64_t tokens = 0; tokens < budget && stream->next(place); tokens += pool.back().larger()) {
      pool.push_back(loader.measure(place, position.epoch));
    }
    if (settings.sort_by_length) sort_by_length(pool);
    cuts = cut_by_budget(pool, settings.batch_tokens);
    next_cut = 0;
    if (settings.sort_by_length)
      shuffle(cuts, mix(mix(mix(settings.seed, "pool"), static_cast<uint64_t>(position.epoch)), pools));
    ++pools;
    return !pool.empty();
  }

  // The next batch's part of the pool, or null at the end of the epoch.
  const Cut* next() {
    if (next_cut == cuts.size() && !read_pool()) return nullptr;
    ++position.index;
    return &cuts[next_cut++];
  }

  // The same, but begins the next epoch at the end of one.
  const Cut* next_or_begin() {
    const Cut* cut = next();
    if (cut) return cut;
    if (position.index == 0) {
      throw Error(
          "epoch {} has no pairs: data.weights are too small for this corpus, or the prepared corpus is "
          "damaged; remove its folder to prepare it again",
          position.epoch + 1);
    }
    known_batches = position.index;
    begin_epoch(position.epoch + 1);
    return nullptr;
  }
};

ShardedBatches::ShardedBatches(const PreparedCorpus& corpus, const BatchSettings& settings)
    : state_(std::make_unique<State>(corpus, settings)) {
  CHECK(settings.batch_tokens > 0 && settings.pool_batches > 0);
}

ShardedBatches::~ShardedBatches() = default;

std::optional<Batch> ShardedBatches::next() {
  State& s = *state_;
  const Cut* cut = s.next_or_begin();
  if (!cut) return std::nullopt;
  Batch batch;
  for (size_t i = cut->begin; i < cut->end; ++i) {
    const PairPlace place = s.pool[i].place;
    s.loader.load(place, s.position.epoch);
    add_pair(batch, s.loader.record(place).pair, s.loader.pair.source, s.loader.pair.target, s.frame);
    if (!s.corpus.links.empty()) add_links(batch, s.loader.pair.links, s.frame);
  }
  return batch;
}

bool ShardedBatches::skip() { return state_->next_or_begin() != nullptr; }

DataPosition ShardedBatches::position() const { return state_->position; }

void ShardedBatches::seek(DataPosition position) {
  State& s = *state_;
  CHECK(position.epoch >= 0 && position.index >= 0);
  s.begin_epoch(position.epoch);
  while (s.position.index < position.index) {
    if (s.next_cut == s.cuts.size() && !s.read_pool()) {
      throw Error(
          "epoch {} has only {} batches, cannot resume at batch {}: the corpus or its settings have changed",
          position.epoch + 1, s.position.index, position.index + 1);
    }
    const auto step =
        std::min(static_cast<size_t>(position.index - s.position.index), s.cuts.size() - s.next_cut);
    s.next_cut += step;
    s.position.index += static_cast<int64_t>(step);
  }
}

int64_t ShardedBatches::batches_in_epoch() const {
  if (state_->known_batches > 0) return state_->known_batches;
  const CorpusCounts& counts = state_->corpus.counts;
  const std::vector<uint64_t>& begins = state_->corpus.source_begins;
  double weighted = 0;
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    const double weight = i < state_->settings.weights.size() ? state_->settings.weights[i] : 1.0;
    weighted += weight * static_cast<double>(begins[i + 1] - begins[i]);
  }
  const PairFrame& frame = state_->frame;
  const int64_t tokens = std::max(counts.source_tokens + frame.source_tokens() * counts.kept,
                                  counts.target_tokens + frame.target_tokens() * counts.kept);
  const double share = weighted / static_cast<double>(begins.back());
  return std::max<int64_t>(1, std::llround(share * static_cast<double>(tokens) /
                                           static_cast<double>(state_->settings.batch_tokens)));
}

// --- Padding ----------------------------------------------------------------------------------------

double ShardedBatches::padding_share(int64_t max_pairs) {
  State& s = *state_;
  int64_t pairs = 0, tokens = 0, area = 0;
  for (const Cut* cut = s.next(); cut && pairs < max_pairs; cut = s.next()) {
    const auto count = static_cast<int64_t>(cut->end - cut->begin);
    int32_t longest_source = 0, longest_target = 0;
    for (size_t i = cut->begin; i < cut->end; ++i) {
      longest_source = std::max(longest_source, s.pool[i].source_length);
      longest_target = std::max(longest_target, s.pool[i].target_length);
      tokens += s.pool[i].source_length + s.pool[i].target_length;
    }
    area += count * (longest_source + longest_target);
    pairs += count;
  }
  return area > 0 ? 1 - static_cast<double>(tokens) / static_cast<double>(area) : 0;
}

PaddingShares padding_shares(const PreparedCorpus& corpus, const BatchSettings& settings) {
  constexpr int64_t max_pairs = 1'000'000;
  BatchSettings sorted = settings;
  sorted.sampling = sorted.tags = 0;  // the stored lengths are near enough, and a hundred times faster
  BatchSettings unsorted = sorted;
  sorted.sort_by_length = true;
  unsorted.sort_by_length = false;
  return {ShardedBatches(corpus, sorted).padding_share(max_pairs),
          ShardedBatches(corpus, unsorted).padding_share(max_pairs)};
}

// --- Validation -------------------------------------------------------------------------------------

std::vector<Batch> batches_of(std::span<const TextPair> pairs, const Vocabularies& vocabularies,
                              const BatchSettings& settings) {
  const auto encode = [](const Vocabulary& vocabulary, const std::string& text) {
    std::vector<int32_t> ids = vocabulary.encode(text);
    if (ids.empty()) ids.push_back(vocabulary.special().unknown);  // a line of white space still counts
    return ids;
  };
  const PairFrame frame = pair_frame(vocabularies, settings);
  std::vector<Batch> batches;
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::vector<int32_t> source;
    if (!settings.one_sided) source = encode(*vocabularies.source, pairs[i].source);
    std::vector<int32_t> target = encode(*vocabularies.target, pairs[i].target);
    const int64_t source_tokens = std::ssize(source) + frame.source_tokens(),
                  target_tokens = std::ssize(target) + frame.target_tokens();
    if (batches.empty() || batches.back().source_tokens() + source_tokens > settings.batch_tokens ||
        batches.back().target_tokens() + target_tokens > settings.batch_tokens) {
      batches.emplace_back();
    }
    add_pair(batches.back(), i, source, target, frame);
  }
  return batches;
}

}  // namespace dragoman::internal
