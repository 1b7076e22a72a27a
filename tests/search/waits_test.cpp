// A step of a search waits for its device once, for the best words of all its hypotheses, after it has asked for all
// else. A GPU would otherwise stand still as often as there are rows.
#include "model/small_models.h"
#include "search/search.h"
#include "tensor/counting_memory.h"

namespace dragoman::internal {
namespace {

class SearchWaits : public testing::TestWithParam<NamedConfig> {
 protected:
  int waits_of_step(Search& search) {
    memory_.downloads = 0;
    memory_.uploaded_after_waiting = 0;
    search.step();
    return memory_.downloads;
  }

  CountingMemory memory_;
  const Kernels& kernels_ = *every_instruction_set().back();
  Device device_{kernels_, std::unique_ptr<Context>(kernels_.new_context(2)), memory_};
};

TEST_P(SearchWaits, OnceAStepAndOnceForNewSources) {
  Transformer model(GetParam().config, device_, Buffers::weights);
  model.parameters.initialise(1);
  for (const int64_t beam : {1, 4}) {
    Search search({&model}, {.sentences = 8});
    for (uint64_t i = 0; i < 5; ++i)
      search.add(i, {.source = Sentence(3 + i, 7), .options = {.beam = beam, .max_length = 20}});
    waits_of_step(search);  // tables of positions are made
    EXPECT_EQ(waits_of_step(search), 1);
    search.add(9, {.source = {5, 6, 7}, .options = {.beam = beam, .max_length = 20}});
    EXPECT_EQ(waits_of_step(search), 2);
    EXPECT_EQ(memory_.uploaded_after_waiting, 0) << "the decoder does not wait for the encoder";
    EXPECT_EQ(waits_of_step(search), 1);
  }
}

TEST_P(SearchWaits, OnceForRequestsOfSeveralKinds) {
  Transformer model(GetParam().config, device_, Buffers::weights);
  model.parameters.initialise(1);
  Search search({&model}, {.sentences = 8});
  for (uint64_t i = 0; i < 6; ++i) {
    const auto beam = static_cast<int64_t>(1 + i % 4);
    search.add(i, {.source = Sentence(3 + i, 7), .options = {.beam = beam, .max_length = 20}});
  }
  waits_of_step(search);
  EXPECT_EQ(waits_of_step(search), 1);
  search.add(6, {.source = {5, 6, 7}, .options = {.max_length = 20, .min_length = 9, .sample = true}});
  waits_of_step(search);
  EXPECT_EQ(waits_of_step(search), 2) << "a sample is drawn from all words";
}

TEST_P(SearchWaits, OnceAStepForAnEnsemble) {
  Transformer one(GetParam().config, device_, Buffers::weights),
      other(GetParam().config, device_, Buffers::weights);
  one.parameters.initialise(1);
  other.parameters.initialise(2);
  Search search({&one, &other}, {.sentences = 8});
  for (uint64_t i = 0; i < 5; ++i)
    search.add(i, {.source = Sentence(3 + i, 7), .options = {.beam = 4, .max_length = 20}});
  waits_of_step(search);
  EXPECT_EQ(waits_of_step(search), 1);
}

// The words' probabilities come to the host, and are not sent back.
TEST_P(SearchWaits, ASampleUploadsNoMoreThanAGreedySearch) {
  Transformer model(GetParam().config, device_, Buffers::weights);
  model.parameters.initialise(1);
  const auto uploaded = [&](bool sample) {
    Search search({&model}, {.sentences = 8});
    for (uint64_t i = 0; i < 6; ++i)
      search.add(i, {.source = Sentence(5, 7), .options = {.max_length = 20, .sample = sample}});
    memory_.uploaded = 0;
    search.step();
    return memory_.uploaded;
  };
  uploaded(false);  // tables of positions, too
  EXPECT_EQ(uploaded(true), uploaded(false));
}

// Attention comes as a whole; rules need all words on the host, and then the best of those that are left.
TEST_P(SearchWaits, AsOftenForManySentencesAsForOne) {
  Transformer model(GetParam().config, device_, Buffers::weights);
  model.parameters.initialise(1);
  const auto waits = [&](const SearchRequest& request, uint64_t count) {
    Search search({&model}, {.sentences = 8});
    for (uint64_t i = 0; i < count; ++i) search.add(i, request);
    waits_of_step(search);
    return waits_of_step(search);
  };
  const Sentence source(5, 7);
  for (const uint64_t count : {1, 6}) {
    const SearchOptions beam = {.beam = 4, .max_length = 20}, sample = {.max_length = 20, .sample = true};
    SearchOptions ruled = beam;
    ruled.no_repeat_ngram = 1;
    EXPECT_EQ(waits({.source = source, .options = beam, .attention_layer = 1}, count), 2);
    EXPECT_EQ(waits({.source = source, .options = ruled}, count), 2);
    EXPECT_EQ(waits({.source = source, .options = ruled, .attention_layer = 1}, count), 3);
    EXPECT_EQ(waits({.source = source, .options = sample}, count), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(On, SearchWaits, testing::ValuesIn(small_configs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
