// A step of a search waits for its device once, for the best words of all its hypotheses. A GPU would else stand still
// as often as there are rows.
#include "model/small_models.h"
#include "search/search.h"
#include "tensor/counting_memory.h"

namespace dragoman::internal {
namespace {

class SearchWaits : public testing::TestWithParam<NamedConfig> {
 protected:
  int waits_of_step(Search& search) {
    memory_.downloads = 0;
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
    EXPECT_EQ(waits_of_step(search), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(On, SearchWaits, testing::ValuesIn(small_configs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
