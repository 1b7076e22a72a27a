// On a GPU a sentence's translation has the same bytes whatever it is translated with: greedily, with a beam and drawn,
// in fp32, tf32, bf16 and int8, in batches of any size and in any order.
#include <map>
#include <numeric>

#include "model/gpu_cases.h"
#include "search/random_requests.h"
#include "search/score.h"
#include "text/special_ids.h"

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

// The processor gets the weights that the GPU has. Those in int8 it gets as floats: it would round activations to int8,
// too, which the GPU has in bf16.
void give_weights(Device& device, Parameters& parameters, Precision precision) {
  if (precision == Precision::bf16) quantize_weights(device, parameters, precision);
  if (precision != Precision::int8) return;
  CpuContext host(1);
  round_weights_to_int8(host, parameters);
}

// Of the sum of 12 words' log-probabilities.
double difference_by_rounding(const GpuCase& c) {
  return c.precision == Precision::fp32 && !c.tf32 ? 0.01 : 0.1;
}

// By whatever precision the GPU's keys, values and sums have, what it finds is as probable as it says.
TEST_P(BatchesOnAGpu, HaveTheScoresThatTheProcessorGivesThem) {
  SmallModel processor(config_for(GetParam()), kernels_for("baseline"), 1);
  give_weights(processor.device, processor.model.parameters, GetParam().precision);
  if (GetParam().precision != Precision::fp32)
    quantize_weights(small_.device, small_.model.parameters, GetParam().precision);
  std::vector<SearchRequest> requests = this->requests();
  std::vector<uint64_t> order;
  for (SearchRequest& request : requests) {
    request.options = {.beam = order.size() % 2 == 0 ? 1 : 4, .length_penalty = 0, .max_length = 12};
    order.push_back(order.size());
  }
  for (const auto& [id, result] : found(requests, order, 7)) {
    const Hypothesis& hypothesis = result.hypotheses.at(0);
    const auto log_p = score_pairs(processor.model, packed_side({requests[id].source}),
                                   packed_side({hypothesis.tokens}), bos_id, eos_id)[0];
    const auto words = std::ssize(hypothesis.log_probabilities);
    const double wanted = std::accumulate(log_p.begin(), log_p.begin() + words, 0.0);
    EXPECT_NEAR(hypothesis.score, wanted, difference_by_rounding(GetParam())) << id;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchesOnAGpu);
INSTANTIATE_TEST_SUITE_P(On, BatchesOnAGpu, testing::ValuesIn(gpu_cases({Precision::bf16, Precision::int8})),
                         gpu_case_name);

}  // namespace
}  // namespace dragoman::internal
