// Training, validation and decoding on a device whose memory the host cannot touch: nothing crashes, and all results
// are the CPU's.
#include "device/protected_memory.h"

#include <algorithm>
#include <limits>
#include <map>

#include <gtest/gtest-spi.h>

#include "base/files.h"
#include "data/corpora.h"
#include "model/attentions.h"
#include "model/weights.h"
#include "search/model_folder.h"
#include "search/score.h"
#include "search/stepped.h"
#include "train/averaging.h"
#include "train/batches.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

Floats floats(Device& device, std::span<const float> values) {
  const HostView<const float> view(device.memory, values);
  return {view.begin(), view.end()};
}

TEST(ProtectedMemory, CrashesWhoeverTouchesIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ProtectedDevice device(1);
  const Tensor tensor(device.pool, 3, 5);
  device.memory.fill(tensor.matrix(), 1);
  EXPECT_DEATH(tensor.data()[0] = 2, "");
  EXPECT_DEATH(EXPECT_EQ(tensor.data()[0], 1), "");
  EXPECT_EQ(tensor.values()[14], 1);
}

TEST(ProtectedMemory, NoticesHostMemoryGivenToAKernel) {
  ProtectedDevice device(1);
  static Device* used = &device;
  static Floats host(15);
  EXPECT_NONFATAL_FAILURE(used->kernels.sum_of_squares(used->context, 15, host.data()), "host memory");
}

// `from` is on the CPU.
void set_weights(Transformer& to, const Transformer& from) {
  const auto weights = from.parameters.weights();
  to.device.memory.upload(to.parameters.weights().data(), weights.data(), weights.size_bytes());
  to.parameters.changed();
}

class OnProtectedMemory : public testing::TestWithParam<NamedConfig> {
 protected:
  OnProtectedMemory() : model_(GetParam().config, device_, Buffers::weights_and_gradients) {
    set_weights(model_, cpu_.model);
  }

  const ModelConfig& config() const { return GetParam().config; }

  SmallModel cpu_{GetParam().config, kernels_for(nullptr), 2, true};
  ProtectedDevice device_{2};
  Transformer model_;
};

TEST_P(OnProtectedMemory, TrainingGivesTheCpusWeights) {
  using Optimizer = std::optional<MuonOptions>;
  for (const auto& [precision, muon] : {std::pair(Precision::fp32, Optimizer()),
                                        {Precision::bf16, Optimizer()},
                                        {Precision::fp32, Optimizer(MuonOptions())},
                                        {Precision::bf16, Optimizer(MuonOptions())}}) {
    const UpdateOptions options = {.muon = muon, .clip_norm = 1, .part_tokens = 30, .precision = precision};
    Floats weights[2];
    double losses[2] = {};
    for (Transformer* model : {&cpu_.model, &model_}) {
      Trainer trainer(*model, options);
      const size_t i = model == &model_;
      for (uint64_t step = 0; step < 3; ++step)
        losses[i] += trainer.update(std::vector{random_batch(config(), 10 * step, 8)}, 0.01).smoothed;
      losses[i] += trainer.evaluate(random_batch(config(), 50, 8)).unsmoothed;
      weights[i] = floats(model->device, model->parameters.weights());
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_TRUE(same_bits(weights[0], weights[1]));
  }
}

TEST_P(OnProtectedMemory, ABadGradientIsFound) {
  model_.device.memory.fill(model_.parameters.list()[3].value.gradient(), -2e19F);
  DivergenceGuard guard;
  guard.judge(1, std::numeric_limits<double>::infinity());
  guard.blame(model_.parameters);
  EXPECT_NE(guard.reason().find(model_.parameters.list()[3].name), std::string::npos) << guard.reason();
}

TEST_P(OnProtectedMemory, FilesHoldTheCpusWeights) {
  const TemporaryFolder folder;
  for (Transformer* model : {&cpu_.model, &model_}) {
    const std::string path = folder.path(model == &model_ ? "device" : "cpu");
    const HostView<const float> weights(model->device.memory, model->parameters.weights());
    write_weights(path, model->parameters, weights.span());
    average_weights(model->parameters, {path, path});
    Transformer small(config(), model->device, Buffers::none_yet);
    map_weights(model->device, path, small.parameters, RequestedPrecision::int8);
    write_decoding_weights(path + ".int8", small.parameters);
    Transformer mapped(config(), model->device, Buffers::none_yet);
    map_weights(model->device, path + ".int8", mapped.parameters);
  }
  EXPECT_EQ(read_file(folder.path("device")), read_file(folder.path("cpu")));
  EXPECT_EQ(read_file(folder.path("device.int8")), read_file(folder.path("cpu.int8")));
  EXPECT_TRUE(same_bits(floats(device_, model_.parameters.weights()), cpu_.model.parameters.weights()));
}

struct Answer {
  std::vector<Sentence> tokens;
  std::vector<double> scores;
  std::vector<AttentionRows> attention;
  bool operator==(const Answer&) const = default;
};

// All hypotheses of all sentences, in their order.
template <class AnySearch>
Answer answer_of(AnySearch& search, const std::vector<Sentence>& sources, SearchRequest request) {
  for (size_t i = 0; i < sources.size(); ++i) {
    request.source = sources[i];
    search.add(i, request);
  }
  std::map<uint64_t, RequestResult> results;
  while (search.busy()) {
    for (RequestResult& result : search.step()) results.emplace(result.id, std::move(result));
  }
  Answer answer;
  for (const auto& [id, result] : results) {
    EXPECT_EQ(result.status, SearchStatus::finished);
    for (const Hypothesis& h : result.hypotheses) {
      answer.tokens.push_back(h.tokens);
      answer.scores.push_back(h.score);
    }
    answer.attention.insert(answer.attention.end(), result.attention.begin(), result.attention.end());
  }
  return answer;
}

// Of a search, of an ensemble's and of two side by side, on this device.
std::vector<Answer> answers_on(Device& device, const Transformer& weights, Precision precision,
                               const SearchOptions& options) {
  Transformer model(weights.config, device, Buffers::weights),
      other(weights.config, device, Buffers::weights);
  set_weights(model, weights);
  other.parameters.initialise(7);
  if (precision != Precision::fp32) quantize_weights(device, model.parameters, precision);
  const std::vector<Sentence> sources = random_sentences(4, weights.config.source_vocabulary, 12, 1);
  QueuedSearch one({&model}, {.sentences = 3}), both({&model, &other}, {.sentences = 3});
  SteppedSearches parallel({&model}, {.sentences = 2}, 2);
  return {answer_of(one, sources, {.source = {}, .prefix = {4}, .options = options, .attention_layer = 1}),
          answer_of(both, sources, {.source = {}, .options = options, .attention_layer = 1}),
          answer_of(parallel, sources, {.source = {}, .options = options})};
}

TEST_P(OnProtectedMemory, SearchesFindWhatTheyFindOnTheCpu) {
  const SearchOptions beam = {.beam = 3, .max_length = 6};
  SearchOptions rules = beam, samples = {.max_length = 6};
  rules.no_repeat_ngram = 2;
  rules.min_length = 3;
  samples.sample = true;
  const auto expect_same = [&](Precision precision, const SearchOptions& options) {
    EXPECT_EQ(answers_on(device_, cpu_.model, precision, options),
              answers_on(cpu_.device, cpu_.model, precision, options))
        << name_of(precision);
  };
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::int8})
    expect_same(precision, beam);
  expect_same(Precision::fp32, rules);
  expect_same(Precision::fp32, samples);
}

TEST_P(OnProtectedMemory, PairsHaveTheCpusScores) {
  PackedSide sources, targets;
  for (const Sentence& s : random_sentences(5, config().source_vocabulary, 9, 3))
    sources.add(s.data(), s.data() + s.size());
  for (const Sentence& s : random_sentences(5, config().target_vocabulary, 9, 4))
    targets.add(s.data(), s.data() + s.size());
  EXPECT_EQ(score_pairs(model_, sources, targets, 1, 2), score_pairs(cpu_.model, sources, targets, 1, 2));
}

TEST_P(OnProtectedMemory, AttentionsAreTheCpus) {
  const auto all = [&](Transformer& model) {
    const auto tokens = [&](int64_t vocabulary) {
      PackedSide side;
      for (const Sentence& s : random_sentences(2, vocabulary, 5, 3)) side.add(s.data(), s.data() + s.size());
      return pack_tokens(model.device, side.ids, side.lengths, std::vector<uint64_t>(2));
    };
    const Attentions found =
        attentions(model, tokens(config().source_vocabulary), tokens(config().target_vocabulary));
    std::vector<Floats> values;
    for (const auto* layers : {&found.encoder, &found.decoder, &found.cross})
      for (const Tensor& layer : *layers)
        values.push_back(
            floats(model.device, {layer.data(), static_cast<size_t>(layer.rows() * layer.columns())}));
    return values;
  };
  EXPECT_EQ(all(model_), all(cpu_.model));
}

INSTANTIATE_TEST_SUITE_P(EverySmallModel, OnProtectedMemory, testing::ValuesIn(small_configs()),
                         [](const auto& test) { return test.param.name; });

// A request with a term, in a search on this device.
Answer answer_with_a_term(Device& device, const ModelFolder& folder, const Vocabulary& target) {
  Transformer model(read_model_config(folder.path), device, Buffers::none_yet);
  map_weights(device, weights_path(folder.path), model.parameters);
  const WordEdges edges(target);
  const SearchTerms terms = {
      .all = {{.begin = 0, .end = 1, .forms = {{.tokens = {5, 6}}}}}, .edges = &edges, .attention_layer = 1};
  QueuedSearch search({&model}, {});
  return answer_of(search, random_sentences(3, model.config.source_vocabulary, 8, 2),
                   {.source = {}, .terms = terms, .options = {.beam = 3, .max_length = 12}});
}

TEST(ProtectedMemoryWithTerms, TranslatesAsTheCpuDoes) {
  const ModelFolder folder("protected");
  const Vocabularies words = read_vocabularies(folder.path);
  ProtectedDevice device(2);
  Device cpu(kernels_for(nullptr), 2);
  const Answer answer = answer_with_a_term(device, folder, *words.target);
  EXPECT_EQ(answer, answer_with_a_term(cpu, folder, *words.target));
  const Sentence &output = answer.tokens.at(0), term = {5, 6};
  EXPECT_FALSE(std::search(output.begin(), output.end(), term.begin(), term.end()) == output.end());
}

TEST(ProtectedMemoryWithAShortlist, TranslatesAsTheCpuDoes) {
  const ModelFolder folder("protected");
  const Vocabularies words = read_vocabularies(folder.path);
  Lexicon lexicon = {.frequent = {5, 4, 7}, .translations = {}};
  for (int32_t id = 0; id < words.source->size(); ++id)
    lexicon.translations.push_back({id, (id + 1) % static_cast<int32_t>(words.target->size())});
  write_shortlist(folder.path, lexicon, words);
  const Shortlist shortlist = Shortlist::read(folder.path, words);
  const ModelConfig config = read_model_config(folder.path);
  for (const RequestedPrecision precision :
       {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
    ProtectedDevice device(2);
    Device cpu(kernels_for(nullptr), 2);
    Answer answers[2];
    for (Device* used : {static_cast<Device*>(&device), &cpu}) {
      Transformer model(config, *used, Buffers::none_yet);
      map_weights(*used, weights_path(folder.path), model.parameters, precision);
      QueuedSearch search({&model}, {});
      const SearchRequest request = {
          .source = {}, .options = {.beam = 4, .max_length = 12}, .shortlist = &shortlist};
      answers[used == &cpu] =
          answer_of(search, random_sentences(6, config.source_vocabulary, 10, 2), request);
    }
    EXPECT_EQ(answers[0], answers[1]);
  }
}

TEST(ProtectedMemoryInARun, ValidatesAsTheCpuDoes) {
  const TemporaryFolder folder;
  const ModelConfig small = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
  const Task task =
      make_task({.data = {.synthetic = Synthetic::copy, .sentences = 4, .valid_batches = 3}, .model = small},
                folder.path("run"));
  ProtectedDevice device(1);
  Device cpu(kernels_for(nullptr), 1);
  std::optional<Validation> results[2];
  for (Device* used : {static_cast<Device*>(&device), &cpu}) {
    Transformer model(task.recipe.model, *used, Buffers::weights_and_gradients);
    model.parameters.initialise(1);
    Trainer trainer(model, {});
    results[used == &cpu] = validate_model(trainer, task, {.metrics = {"loss", "bleu"}, .beam = 3});
  }
  EXPECT_EQ(results[0]->loss(), results[1]->loss());
  EXPECT_EQ(results[0]->translations, results[1]->translations);
}

}  // namespace
}  // namespace dragoman::internal
