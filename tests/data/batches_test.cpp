#include "data/batches.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/options.h"
#include "data/corpora.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

using Epoch = std::vector<Batch>;

bool same(const Batch& a, const Batch& b) {
  return a.pairs == b.pairs && a.source.ids == b.source.ids && a.source.lengths == b.source.lengths &&
         a.target_input.ids == b.target_input.ids && a.target_input.lengths == b.target_input.lengths &&
         a.targets == b.targets;
}

bool same(const Epoch& a, const Epoch& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

Epoch read_epoch(BatchSource& batches) {
  Epoch epoch;
  while (auto batch = batches.next()) epoch.push_back(std::move(*batch));
  return epoch;
}

std::map<uint64_t, int64_t> times(const Epoch& epoch) {
  std::map<uint64_t, int64_t> counts;
  for (const Batch& batch : epoch) {
    for (const uint64_t pair : batch.pairs) ++counts[pair];
  }
  return counts;
}

// Two sources of 400 and 200 pairs, dealt to three shards as preparation does for large corpora.
class BatchesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    text = new ToyText(toy_text(600));
    one_shard = new PreparedCorpus(
        prepare_corpus(toy_data(*folder, *text), toy_vocabulary(), folder->path("data"), 1));
    const PreparedCorpus& whole = *one_shard;
    corpus = new PreparedCorpus{.vocabularies = whole.vocabularies,
                                .shards = {},
                                .source_begins = {0, 400, 600},
                                .counts = whole.counts,
                                .report = whole.report};
    std::vector<ShardWriter> writers;
    for (int64_t i = 0; i < 3; ++i) writers.emplace_back(shard_path(folder->path(""), i), 2, 7);
    std::vector<int32_t> source, target;
    for (const PairRecord& record : whole.shards[0].pairs()) {
      whole.shards[0].read(record, source, target);
      writers[record.pair % 3].add(record.pair, source, target);
    }
    for (ShardWriter& writer : writers) writer.finish();
    for (int64_t i = 0; i < 3; ++i)
      corpus->shards.emplace_back(shard_path(folder->path(""), i), 7, VocabularySizes{60, 60});
  }
  static void TearDownTestSuite() {
    delete corpus;
    delete one_shard;
    delete text;
    delete folder;
  }

  static BatchSettings settings(uint64_t seed = 1) {
    return {.batch_tokens = 100, .seed = seed, .pool_batches = 10};
  }
  static Epoch epoch(const BatchSettings& s, int64_t number = 0) {
    ShardedBatches batches(*corpus, s);
    batches.seek({.epoch = number});
    return read_epoch(batches);
  }

  static inline TemporaryFolder* folder = nullptr;
  static inline ToyText* text = nullptr;
  static inline PreparedCorpus *one_shard = nullptr, *corpus = nullptr;
};

TEST_F(BatchesTest, AnEpochHasEachPairOnce) {
  ShardedBatches batches(*corpus, settings());
  for (int64_t number = 0; number < 3; ++number) {
    EXPECT_EQ(batches.position().epoch, number);
    const Epoch epoch = read_epoch(batches);
    const auto counts = times(epoch);
    EXPECT_EQ(counts.size(), 600U);
    for (const auto& [pair, count] : counts) EXPECT_EQ(count, 1) << pair;
    EXPECT_EQ(batches.batches_in_epoch(), static_cast<int64_t>(epoch.size()));
  }
}

// Each side has its language, which the decoder also learns to predict; lengths count it.
TEST_F(BatchesTest, PairsHaveTheirLanguages) {
  const Vocabulary& plain = *corpus->vocabularies.source;
  TokenTable table = {.unknown = 0, .start = bos_id, .end = eos_id};
  for (int32_t id = 0; id < plain.size(); ++id) table.tokens.push_back(plain.piece(id));
  table.tokens.insert(table.tokens.end(), {"eng", "fra"});
  const auto eng = static_cast<int32_t>(plain.size()), fra = eng + 1;
  table.languages.tokens = {{"eng", eng}, {"fra", fra}};
  const auto both = std::make_shared<const Vocabulary>(with_token_table(plain.model(), table), "table.spm");
  const std::vector<TextPair> pairs = {{text->source_lines[0], text->source_lines[1]}};
  BatchSettings s = settings();
  EXPECT_THROW(batches_of(pairs, {both, both}, s), OptionError);
  s.from = "eng";
  s.to = "fra";
  const Batch batch = batches_of(pairs, {both, both}, s).at(0);
  std::vector<int32_t> source = both->encode(pairs[0].source), target = both->encode(pairs[0].target);
  source.insert(source.begin(), eng);
  source.push_back(eos_id);
  target.insert(target.begin(), fra);
  EXPECT_EQ(batch.source.ids, source);
  std::vector<int32_t> read = target;
  read.insert(read.begin(), bos_id);
  target.push_back(eos_id);
  EXPECT_EQ(batch.target_input.ids, read);
  EXPECT_EQ(batch.targets, target);
  EXPECT_EQ(pair_frame({both, both}, s).source_tokens(), 2);
  EXPECT_EQ(pair_frame({both, both}, s).target_tokens(), 2);
}

TEST_F(BatchesTest, PairsHaveStartAndEndTokens) {
  for (const bool source_eos : {true, false}) {
    BatchSettings s = settings();
    s.source_eos = source_eos;
    for (const Batch& batch : epoch(s)) {
      size_t source = 0, target = 0;
      for (size_t i = 0; i < batch.pairs.size(); ++i) {
        const auto n = static_cast<size_t>(batch.source.lengths[i]);
        const auto m = static_cast<size_t>(batch.target_input.lengths[i]);
        const std::span ids(batch.source.ids.data() + source, n);
        const std::span input(batch.target_input.ids.data() + target, m),
            output(batch.targets.data() + target, m);
        EXPECT_EQ(ids.back() == eos_id, source_eos);
        EXPECT_EQ(corpus->vocabularies.source->decode(ids), text->source_lines[batch.pairs[i]]);
        EXPECT_EQ(input.front(), bos_id);
        EXPECT_EQ(output.back(), eos_id);
        EXPECT_TRUE(std::equal(input.begin() + 1, input.end(), output.begin()));
        EXPECT_EQ(corpus->vocabularies.target->decode(output), text->target_lines[batch.pairs[i]]);
        source += n;
        target += m;
      }
      EXPECT_EQ(source, batch.source.ids.size());
      EXPECT_EQ(target, batch.targets.size());
      EXPECT_EQ(target, batch.target_input.ids.size());
    }
  }
}

TEST_F(BatchesTest, OnlyASinglePairMayExceedTheBudget) {
  for (const int64_t budget : {1, 10, 100, 1000}) {
    BatchSettings s = settings();
    s.batch_tokens = budget;
    int64_t lonely = 0, batches = 0;
    for (const Batch& batch : epoch(s)) {
      const bool over = std::max(batch.source_tokens(), batch.target_tokens()) > budget;
      EXPECT_TRUE(!over || batch.pairs.size() == 1);
      lonely += over;
      ++batches;
    }
    EXPECT_EQ(lonely > 0, budget < 100) << budget;
    EXPECT_EQ(batches == 600, budget == 1) << budget;
  }
}

TEST_F(BatchesTest, OrderDependsOnEpochAndSeedAlone) {
  const Epoch first = epoch(settings());
  EXPECT_TRUE(same(epoch(settings()), first));
  EXPECT_FALSE(same(epoch(settings(), 1), first));
  EXPECT_FALSE(same(epoch(settings(2)), first));
  EXPECT_TRUE(same(epoch(settings(2), 5), epoch(settings(2), 5)));
}

// Unsorted batches show the order of the stream: pairs adjacent on disk are not adjacent in it, and epochs differ.
TEST_F(BatchesTest, PairsAreShuffled) {
  BatchSettings s = settings();
  s.sort_by_length = false;
  const auto order = [](const Epoch& epoch) {
    std::vector<uint64_t> pairs;
    for (const Batch& batch : epoch) pairs.insert(pairs.end(), batch.pairs.begin(), batch.pairs.end());
    return pairs;
  };
  const std::vector<uint64_t> pairs = order(epoch(s));
  int64_t neighbours = 0;
  for (size_t i = 1; i < pairs.size(); ++i) neighbours += pairs[i] == pairs[i - 1] + 3;
  EXPECT_LT(neighbours, 15);
  std::set<std::vector<uint64_t>> orders = {pairs};
  std::set<uint64_t> first_shards;
  for (int64_t number = 1; number < 10; ++number) {
    orders.insert(order(epoch(s, number)));
    first_shards.insert(epoch(s, number)[0].pairs[0] % 3);
  }
  EXPECT_EQ(orders.size(), 10U);
  EXPECT_EQ(first_shards.size(), 3U);
}

TEST_F(BatchesTest, SeekingEqualsReading) {
  for (const double sampling : {0.0, 0.2}) {
    BatchSettings s = settings();
    s.sampling = sampling;
    ShardedBatches walking(*corpus, s);
    read_epoch(walking);
    const Epoch second = read_epoch(walking);
    ShardedBatches seeking(*corpus, s);
    for (size_t index = 0; index <= second.size(); index += index + 7 < second.size() ? 7 : 1) {
      seeking.seek({.epoch = 1, .index = static_cast<int64_t>(index)});
      EXPECT_EQ(seeking.position().index, static_cast<int64_t>(index));
      const Epoch rest = read_epoch(seeking);
      EXPECT_TRUE(same(rest, Epoch(second.begin() + static_cast<int64_t>(index), second.end()))) << index;
      EXPECT_EQ(seeking.position().epoch, 2);
      EXPECT_EQ(seeking.position().index, 0);
    }
    EXPECT_THROW(seeking.seek({.epoch = 1, .index = static_cast<int64_t>(second.size()) + 1}), Error);
  }
}

TEST_F(BatchesTest, SortedBatchesHaveSimilarLengths) {
  BatchSettings unsorted = settings();
  unsorted.sort_by_length = false;
  EXPECT_EQ(times(epoch(unsorted)), times(epoch(settings())));
  const PaddingShares shares = padding_shares(*corpus, settings());
  EXPECT_GT(shares.sorted, 0);
  EXPECT_LT(shares.sorted, 0.15);
  EXPECT_GT(shares.unsorted, 0.25);
  EXPECT_LT(shares.unsorted, 0.9);
}

TEST_F(BatchesTest, BatchesOfAPoolAreShuffled) {
  BatchSettings s = settings();
  s.pool_batches = 1000;
  int64_t rising = 0, steps = 0;
  double last = 0;
  for (const Batch& batch : epoch(s)) {
    const double mean = static_cast<double>(batch.target_tokens()) / static_cast<double>(batch.pairs.size());
    rising += mean >= last;
    last = mean;
    ++steps;
  }
  EXPECT_GT(rising, steps / 4);
  EXPECT_LT(rising, 3 * steps / 4);
}

TEST_F(BatchesTest, SourcesAreMixedOrConsecutive) {
  const auto last_of_first = [](const Epoch& epoch) {
    int64_t place = 0, last = 0;
    for (const Batch& batch : epoch) {
      for (const uint64_t pair : batch.pairs) {
        ++place;
        if (pair < 400) last = place;
      }
    }
    return last;
  };
  BatchSettings s = settings();
  s.sort_by_length = false;
  EXPECT_GT(last_of_first(epoch(s)), 500);
  s.order = SourceOrder::consecutive;
  EXPECT_EQ(last_of_first(epoch(s)), 400);
  EXPECT_EQ(times(epoch(s)).size(), 600U);
}

TEST_F(BatchesTest, WeightsAreHowOftenPairsOccur) {
  BatchSettings s = settings();
  s.weights = {2, 0.5};
  const auto first = times(epoch(s)), second = times(epoch(s, 1));
  int64_t of_second = 0;
  for (const auto& [pair, count] : first) {
    EXPECT_EQ(count, pair < 400 ? 2 : 1);
    of_second += pair >= 400;
  }
  EXPECT_GT(of_second, 70);
  EXPECT_LT(of_second, 130);
  EXPECT_NE(first, second);
  s.weights = {0, 1};
  EXPECT_EQ(times(epoch(s)).size(), 200U);
}

// Both have lines 0 to 199.
TEST_F(BatchesTest, OfSourcesWhoseWeightsAddUpToOneEachLineOccursOnce) {
  BatchSettings s = settings();
  s.weights = {0.25, 0.75};
  const auto first = times(epoch(s)), second = times(epoch(s, 1));
  s.weights = {1.25, 0.75};
  auto more = times(epoch(s));
  int64_t of_first = 0;
  for (uint64_t line = 0; line < 200; ++line) {
    EXPECT_EQ(more[line] + more[400 + line], 2) << line;
    EXPECT_EQ(first.contains(line) + first.contains(400 + line), 1) << line;
    of_first += first.contains(line);
  }
  EXPECT_NEAR(static_cast<double>(of_first), 50, 25);
  EXPECT_NE(first, second);
}

TEST_F(BatchesTest, AnEpochWithoutPairsIsAnError) {
  BatchSettings s = settings();
  s.weights = {1e-9, 1e-9};
  EXPECT_THROW(ShardedBatches(*corpus, s).next(), Error);
  EXPECT_THROW(ShardedBatches(*corpus, s).skip(), Error);
}

TEST_F(BatchesTest, SampledSubwordsDependOnSeedEpochAndPairAlone) {
  BatchSettings s = settings();
  s.sampling = 0.3;
  const auto sentences = [](const Epoch& epoch) {
    std::map<uint64_t, std::vector<int32_t>> sources;
    for (const Batch& batch : epoch) {
      const int32_t* at = batch.source.ids.data();
      for (size_t i = 0; i < batch.pairs.size(); at += batch.source.lengths[i++]) {
        sources[batch.pairs[i]] = {at, at + batch.source.lengths[i]};
      }
    }
    return sources;
  };
  const auto plain = sentences(epoch(settings())), sampled = sentences(epoch(s)),
             later = sentences(epoch(s, 1));
  int64_t changed = 0, changed_again = 0;
  for (const auto& [pair, ids] : sampled) {
    EXPECT_EQ(corpus->vocabularies.source->decode(ids), text->source_lines[pair]);
    changed += ids != plain.at(pair);
    changed_again += ids != later.at(pair);
  }
  EXPECT_GT(changed, 300);
  EXPECT_GT(changed_again, 300);
  ShardedBatches elsewhere(*one_shard, s);
  EXPECT_EQ(sentences(read_epoch(elsewhere)), sampled);
  s.batch_tokens = 50;  // other neighbours
  s.sort_by_length = false;
  EXPECT_EQ(sentences(epoch(s)), sampled);
  for (const Batch& batch : epoch(s)) {
    EXPECT_TRUE(batch.pairs.size() == 1 || std::max(batch.source_tokens(), batch.target_tokens()) <= 50);
  }
  s.max_length = 10;  // no sampled sentence is longer, though a usual one may be
  for (const auto& [pair, ids] : sentences(epoch(s))) {
    EXPECT_TRUE(ids.size() <= 11 || ids == plain.at(pair));
  }
}

TEST_F(BatchesTest, ValidationKeepsItsOrder) {
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < 50; ++i) pairs.push_back({text->source_lines[i], text->target_lines[i]});
  pairs.push_back({"\u200b", "ka"});  // nothing of it is left, but it has its place
  const Epoch batches = batches_of(pairs, corpus->vocabularies, settings());
  uint64_t next = 0;
  for (const Batch& batch : batches) {
    EXPECT_TRUE(batch.pairs.size() == 1 || std::max(batch.source_tokens(), batch.target_tokens()) <= 100);
    for (const uint64_t pair : batch.pairs) EXPECT_EQ(pair, next++);
    for (const int32_t length : batch.source.lengths) EXPECT_GT(length, 1);
  }
  EXPECT_EQ(next, 51U);
}

TEST_F(BatchesTest, EstimatesBatchesOfAnEpoch) {
  ShardedBatches batches(*corpus, settings());
  const auto estimate = static_cast<double>(batches.batches_in_epoch());
  const auto count = static_cast<double>(read_epoch(batches).size());
  EXPECT_NEAR(estimate / count, 1, 0.15);
}

}  // namespace
}  // namespace dragoman::internal
