// Greedy decoding: what it takes is what all-at-once scoring finds most probable, and a sentence's output is its own.
#include "search/greedy.h"

#include "model/small_models.h"

namespace dragoman {
namespace {

class Greedy : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }

  static PackedSide side(const std::vector<Sentence>& sentences) {
    PackedSide packed;
    for (const Sentence& s : sentences) packed.add(s.data(), s.data() + s.size());
    return packed;
  }

  std::vector<Sentence> decode(Transformer& model, const std::vector<Sentence>& sentences) const {
    return decode_greedily(model, side(sentences), options_);
  }

  const std::vector<Sentence> sources_ = random_sentences(6, config().source_vocabulary, 15, 1);
  GreedyOptions options_ = {.start = 2, .max_length = 25};
};

TEST_P(Greedy, TakesTheMostProbable) {
  SmallModel small(config(), *GetParam().kernels, 2);
  const std::vector<Sentence> outputs = decode(small.model, sources_);
  for (size_t i = 0; i < sources_.size(); ++i) {
    ASSERT_EQ(outputs[i].size(), 25U);
    Sentence read = outputs[i];  // what the decoder read: the output, shifted by its start
    read.insert(read.begin(), 2);
    read.pop_back();
    Pass pass{small.device};
    const Tokens source = pack(small.device, {sources_[i]}, {0}), target = pack(small.device, {read}, {0});
    const Memory memory = {
        .encoded = encode(pass, small.model, source), .spans = &source.spans, .key_values = {}};
    const Tensor scores =
        next_word_logits(pass, small.model, dragoman::decode(pass, small.model, target, memory));
    Sentence best(read.size());
    small.device.kernels.arg_max(small.device.context, scores, best.data());
    EXPECT_EQ(outputs[i], best) << "sentence " << i;
  }
}

TEST_P(Greedy, ASentenceGetsWhatItGetsAlone) {
  SmallModel alone(config(), *GetParam().kernels, 1);
  std::vector<Sentence> wanted;
  for (const Sentence& source : sources_) wanted.push_back(decode(alone.model, {source})[0]);
  for (const int threads : {1, 2, 3}) {
    SmallModel small(config(), *GetParam().kernels, threads);
    EXPECT_EQ(decode(small.model, sources_), wanted) << "threads: " << threads;
    const auto turned = decode(small.model, {sources_[4], sources_[1], sources_[4], sources_[0]});
    EXPECT_EQ(turned, (std::vector{wanted[4], wanted[1], wanted[4], wanted[0]})) << "threads: " << threads;
  }
}

// With an end mark an output is what it was, up to the first one; the others go on.
TEST_P(Greedy, EndsAtItsMark) {
  SmallModel small(config(), *GetParam().kernels, 2);
  const std::vector<Sentence> endless = decode(small.model, sources_);
  for (const int32_t end : {endless[0][0], endless[1][3], endless[2][9]}) {
    options_.end = end;
    const std::vector<Sentence> outputs = decode(small.model, sources_);
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Sentence wanted(endless[i].begin(), std::ranges::find(endless[i], end));
      EXPECT_EQ(outputs[i], wanted) << "sentence " << i << ", end mark " << end;
    }
  }
}

TEST_P(Greedy, NothingToDo) {
  SmallModel small(config(), *GetParam().kernels, 1);
  EXPECT_TRUE(decode(small.model, {}).empty());
  options_.max_length = 0;
  EXPECT_EQ(decode(small.model, sources_), std::vector<Sentence>(sources_.size()));
}

// Once the largest batch has been decoded, the pool asks the system for nothing, and all comes back to it.
TEST_P(Greedy, NeedsNoMoreMemoryOnceWarm) {
  SmallModel small(config(), *GetParam().kernels, 2);
  decode(small.model, sources_);
  const size_t reached = small.device.pool.reached(), in_use = small.device.pool.in_use();
  for (uint64_t key = 0; key < 4; ++key) {
    options_.max_length = 5 + static_cast<int64_t>(key);
    decode(small.model, random_sentences(3 + key % 2, config().source_vocabulary, 11, 10 + key));
    EXPECT_EQ(small.device.pool.in_use(), in_use);
  }
  EXPECT_EQ(small.device.pool.reached(), reached);
}

INSTANTIATE_TEST_SUITE_P(On, Greedy, testing::ValuesIn(model_cases()), model_case_name);

}  // namespace
}  // namespace dragoman
