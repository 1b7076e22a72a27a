// Neighbours: an output says what they say where its states are near to theirs, with the same bits whether their states
// were kept or not. How they share a batch with requests of every kind: requests_test.cpp.
#include "search/neighbours.h"

#include "model/small_models.h"
#include "search/random_requests.h"
#include "text/special_ids.h"

namespace dragoman::internal {
namespace {

class NeighboursTest : public testing::TestWithParam<ModelCase> {
 protected:
  // Where a model is sure of a word, neighbours have no say, and some random models are sure of one.
  NeighboursTest() {
    const HostView<float> weights = small_.model.generator.weight.writable_values();
    for (size_t i = 0; i < weights.size(); ++i) weights[i] *= 0.1F;
  }

  RequestResult result_of(const Models& models, SearchRequest request, const SearchSettings& settings = {}) {
    QueuedSearch search(models, settings);
    search.add(0, std::move(request));
    return run(search).at(0);
  }
  int32_t vocabulary() const { return static_cast<int32_t>(GetParam().named.config.target_vocabulary); }

  SmallModel small_{GetParam().named.config, *GetParam().kernels, 2};
  const Sentence source_ = {4, 7, 5, 9, eos_id}, target_ = {6, 3, 8, 10, 11, 5};
};

// Its states are those of the output, word by word, and so at the distance 0.
TEST_P(NeighboursTest, TheOutputFollowsANeighbourOfTheSameSource) {
  const Neighbour neighbour = {source_, target_};
  for (const SearchOptions& options :
       {SearchOptions{.beam = 1, .max_length = 20}, SearchOptions{.beam = 4, .max_length = 20},
        SearchOptions{.beam = 3, .max_length = 20, .no_repeat_ngram = 4}}) {
    const RequestResult found =
        result_of({&small_.model}, {.source = source_, .neighbours = {neighbour}, .options = options});
    EXPECT_EQ(found.hypotheses[0].tokens, target_) << options.beam;
  }
}

TEST_P(NeighboursTest, OfSeveralTheNearestIsFollowed) {
  const Sentence far = {10, 11, eos_id};
  const RequestResult found =
      result_of({&small_.model}, {.source = source_,
                                  .neighbours = {{far, {7, 7}}, {source_, target_}, {far, {9}}},
                                  .options = {.beam = 1, .max_length = 20}});
  EXPECT_EQ(found.hypotheses[0].tokens, target_);
}

TEST_P(NeighboursTest, KeptStatesHaveTheSameBits) {
  RandomRequests random(7, vocabulary());
  std::vector<SearchRequest> all;
  const std::vector<Neighbour> neighbours = {{source_, target_}, {random.words(9), random.words(9)}};
  for (int i = 0; i < 6; ++i)
    all.push_back({.source = random.words(9),
                   .neighbours = {neighbours[static_cast<size_t>(i % 2)], {random.words(9), random.words(9)}},
                   .options = {.beam = 3, .max_length = 12}});
  QueuedSearch one_by_one({&small_.model}, {.sentences = 1});
  for (size_t i = 0; i < all.size(); ++i) one_by_one.add(i, all[i]);
  for (const auto& [id, result] : run(one_by_one)) {
    RequestResult wanted = result_of({&small_.model}, all[id]);
    wanted.id = id;
    expect_same_result(result, wanted);
  }
}

// What is not used any more goes first, and what is used stays until it is released.
TEST_P(NeighboursTest, AsManyStatesAreKeptAsThereIsRoomFor) {
  Ensemble ensemble({&small_.model});
  NeighbourStates states(ensemble, eos_id, 20 * ensemble.width());
  const auto open = [&](int32_t word) {
    const Neighbour neighbour = {source_, {word, 3, 4, 5}};
    KnownStates opened = states.open(std::span(&neighbour, 1), bos_id, {});
    states.compute();
    return opened;
  };
  const KnownStates used = open(3);
  EXPECT_EQ(used.words, (std::vector<int32_t>{eos_id, 3, 3, 4, 5}));
  for (int32_t word = 4; word < 12; ++word) states.release(open(word));
  EXPECT_EQ(states.kept_tokens(), 20);
  EXPECT_EQ(states.rows_in_use(), 25) << "and those in use";
  EXPECT_EQ(open(11).rows.size(), 5U);
  EXPECT_EQ(states.rows_in_use(), 25) << "they were kept";
  states.release(used);
  EXPECT_EQ(states.rows_in_use(), 20);
}

// By the first model's states.
TEST_P(NeighboursTest, AnEnsembleFollowsThem) {
  const RequestResult found = result_of(
      {&small_.model, &small_.model},
      {.source = source_, .neighbours = {{source_, target_}}, .options = {.beam = 2, .max_length = 20}});
  EXPECT_EQ(found.hypotheses[0].tokens, target_);
}

INSTANTIATE_TEST_SUITE_P(On, NeighboursTest, testing::ValuesIn(few_on_fibers(model_cases())),
                         model_case_name);

}  // namespace
}  // namespace dragoman::internal
