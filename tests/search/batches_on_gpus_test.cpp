// On a GPU a sentence's translation has the same bytes whatever it is translated with: greedily, with a beam and drawn,
// in fp32, tf32, bf16 and int8, in batches of any size and in any order.
#include <map>
#include <numeric>

#include "model/gpu_cases.h"
#include "search/random_requests.h"

namespace dragoman::internal {
namespace {

class BatchesOnAGpu : public testing::TestWithParam<GpuCase> {
 protected:
  std::vector<SearchRequest> requests() const {
    const std::vector<SearchOptions> kinds = {
        {.beam = 1, .max_length = 12},
        {.beam = 4, .nbest = 4, .max_length = 12},
        {.nbest = 2, .max_length = 12, .sample = true, .temperature = 0.8, .top_k = 9}};
    const bool many = GetParam().on_gpu_itself();
    const auto sources =
        random_sentences(many ? 96 : 12, small_.model.config.source_vocabulary, many ? 50 : 12, 3);
    std::vector<SearchRequest> all;
    for (const Sentence& source : sources)
      all.push_back({.source = source, .options = kinds[all.size() % kinds.size()]});
    return all;
  }

  std::map<uint64_t, RequestResult> found(const std::vector<SearchRequest>& requests,
                                          const std::vector<uint64_t>& order, int64_t sentences) {
    QueuedSearch search({&small_.model}, {.sentences = sentences});
    for (const uint64_t id : order) search.add(id, requests[id]);
    return run(search);
  }

  SmallModel small_{config_for(GetParam()), *GetParam().kernels, 1};
};

TEST_P(BatchesOnAGpu, ChangeNoByteOfATranslation) {
  if (GetParam().precision != Precision::fp32)
    quantize_weights(small_.device, small_.model.parameters, GetParam().precision);
  const std::vector<SearchRequest> all = requests();
  std::vector<uint64_t> order(all.size());
  std::iota(order.begin(), order.end(), uint64_t{0});
  const auto wanted = found(all, order, 1);
  Random random(5);
  for (const int64_t sentences : {7, 64}) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const auto got = found(all, order, sentences);
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [id, result] : wanted) expect_same_result(got.at(id), result);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchesOnAGpu);
INSTANTIATE_TEST_SUITE_P(On, BatchesOnAGpu, testing::ValuesIn(gpu_cases({Precision::bf16, Precision::int8})),
                         gpu_case_name);

}  // namespace
}  // namespace dragoman::internal
