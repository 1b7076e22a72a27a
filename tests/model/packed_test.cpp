// What a sentence gets depends on that sentence alone: the encoder's output, the logits and the losses have the
// same bytes alone and among others, in any order, in batches of any size, on any number of threads; and so have
// those of training, whose dropout belongs to the pair.
#include <numeric>

#include "model/small_models.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

struct Scores {
  Floats encoded, logits, losses;
};

struct Corpus {
  std::vector<Sentence> sources, targets, predictions;

  explicit Corpus(const ModelConfig& config)
      : sources(random_sentences(7, config.source_vocabulary, 90, 1)),
        targets(random_sentences(7, config.target_vocabulary, 21, 2)),
        predictions(targets) {
    std::swap(sources[1], sources[2]);  // the longest source has no long target
    for (Sentence& prediction : predictions)
      std::rotate(prediction.begin(), prediction.begin() + 1, prediction.end());
  }
};

std::vector<Sentence> choose(const std::vector<Sentence>& all, const std::vector<size_t>& which) {
  std::vector<Sentence> chosen;
  for (const size_t i : which) chosen.push_back(all[i]);
  return chosen;
}

class PackedBatch : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }

  // One batch of these sentences. With a tape it is training's forward.
  static std::vector<Scores> score(Transformer& model, const Corpus& corpus, const std::vector<size_t>& batch,
                                   Tape* tape) {
    Device& device = model.device;
    const std::vector<uint64_t> pairs(batch.begin(), batch.end());
    const Tokens source = pack(device, choose(corpus.sources, batch), pairs);
    const Tokens target = pack(device, choose(corpus.targets, batch), pairs);
    const Tokens predicted = pack(device, choose(corpus.predictions, batch), pairs);
    Pass pass{.device = device, .tape = tape, .seed = 5, .update = 9};
    const EncodedSource memory = memory_of(pass, model, source);
    const Tensor decoded = decode(pass, model, target, memory);
    const Tensor losses = cross_entropy(pass, decoded, model.generator.weight, model.generator.bias,
                                        predicted.ids, {0.1F, SmoothingOver::all});
    Pass inference{device};
    const Tensor logits = next_word_logits(inference, model, decoded);
    if (tape != nullptr) tape->clear();
    std::vector<Scores> scores;
    for (size_t i = 0; i < batch.size(); ++i) {
      const Span in = source.spans.spans.values()[i], out = target.spans.spans.values()[i];
      scores.push_back({{}, rows_of(logits, out), rows_of(losses, out)});
      if (has_encoder(model.config)) scores.back().encoded = rows_of(memory.encoded, in);
    }
    return scores;
  }

  static void expect_same(const Scores& got, const Scores& alone) {
    EXPECT_TRUE(same_bits(got.encoded, alone.encoded)) << "the encoder's output differs";
    EXPECT_TRUE(same_bits(got.logits, alone.logits)) << "the logits differ";
    EXPECT_TRUE(same_bits(got.losses, alone.losses)) << "the losses differ";
  }

  void check(bool training) {
    const Corpus corpus(config());
    std::vector<std::vector<size_t>> alone(corpus.sources.size());
    for (size_t i = 0; i < alone.size(); ++i) alone[i] = {i};
    std::vector<Scores> wanted;
    for (const int threads : {1, 2, 3}) {
      SmallModel small(config(), *GetParam().kernels, threads, training);
      Tape tape;
      Tape* used = training ? &tape : nullptr;
      for (size_t i = 0; i < alone.size() && threads == 1; ++i) {
        wanted.push_back(score(small.model, corpus, alone[i], used)[0]);
      }
      for (const std::vector<size_t>& batch : std::vector<std::vector<size_t>>{
               {0, 1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1, 0}, {3, 0, 5}, {2, 2, 6}, {1, 4}, {5}}) {
        const std::vector<Scores> scores = score(small.model, corpus, batch, used);
        for (size_t i = 0; i < batch.size(); ++i) {
          SCOPED_TRACE("sentence " + std::to_string(batch[i]) + " in a batch of " +
                       std::to_string(batch.size()) + ", threads: " + std::to_string(threads));
          expect_same(scores[i], wanted[batch[i]]);
        }
      }
    }
  }
};

TEST_P(PackedBatch, ASentenceGetsWhatItGetsAlone) { check(/*training=*/false); }

TEST_P(PackedBatch, InTrainingToo) { check(/*training=*/true); }

INSTANTIATE_TEST_SUITE_P(On, PackedBatch, testing::ValuesIn(model_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(OnLanguageModels, PackedBatch,
                         testing::ValuesIn(model_cases(small_language_models())), model_case_name);

}  // namespace
}  // namespace dragoman::internal
