// Requests of every kind in one batch: each gets what it gets alone, may be cancelled, expires and fails by itself, and
// what is called final of it while it is searched stays.
#include <map>
#include <set>

#include "model/gpu_cases.h"
#include "search/model_folder.h"
#include "search/random_requests.h"
#include "search/saved_model.h"
#include "search/shortlist.h"

namespace dragoman::internal {
namespace {

using RequestResults = std::map<uint64_t, RequestResult>;
using std::chrono::steady_clock;

struct MachineCase {
  const Kernels* kernels;
  RequestedPrecision precision;
  DecoderSelfAttention self_attention = DecoderSelfAttention::attention;
};

std::vector<MachineCase> cases_on(const std::vector<const Kernels*>& tables) {
  std::vector<MachineCase> cases;
  for (const Kernels* kernels : tables) {
    for (const auto precision :
         {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8})
      cases.push_back({kernels, precision});
    cases.push_back({kernels, RequestedPrecision::fp32, DecoderSelfAttention::ssru});
    cases.push_back({kernels, RequestedPrecision::int8, DecoderSelfAttention::ssru});
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<MachineCase>& test) {
  const RequestedPrecision precision = test.param.precision;
  const char* bits = precision == RequestedPrecision::fp32   ? "fp32"
                     : precision == RequestedPrecision::bf16 ? "bf16"
                                                             : "int8";
  const bool ssru = test.param.self_attention == DecoderSelfAttention::ssru;
  return name_in_tests(*test.param.kernels) + "_" + bits + (ssru ? "_ssru" : "");
}

void PrintTo(const MachineCase& c, std::ostream* out) { *out << c.kernels->name; }

class RequestsTest : public testing::TestWithParam<MachineCase> {
 protected:
  RequestsTest() {
    Lexicon lexicon = {.frequent = {5, 4}, .translations = {}};
    const auto size = static_cast<int32_t>(saved_.vocabularies.target->size());
    for (int32_t id = 0; id < size; ++id)
      lexicon.translations.push_back({(id + 1) % size, id, (id * 7) % size});
    write_shortlist(folder_.path, lexicon, saved_.vocabularies);
    shortlist_ = Shortlist::read(folder_.path, saved_.vocabularies);
  }

  std::vector<SearchRequest> requests(size_t count, uint64_t seed) {
    RandomRequests random(seed, saved_.vocabularies.target->size());
    std::vector<SearchRequest> all;
    for (size_t i = 0; i < count; ++i) all.push_back(random.request(&*shortlist_, &edges_));
    return all;
  }
  RequestResults each_alone(const std::vector<SearchRequest>& requests) {
    RequestResults results;
    for (size_t i = 0; i < requests.size(); ++i) {
      QueuedSearch search(saved_.models(), {.sentences = 1});
      search.add(i, requests[i]);
      results.merge(run(search));
    }
    return results;
  }
  static void add_all(auto& search, const std::vector<SearchRequest>& requests) {
    for (size_t i = 0; i < requests.size(); ++i) search.add(i, requests[i]);
  }
  static void expect_same(const RequestResults& got, const RequestResults& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [id, result] : wanted) expect_same_result(got.at(id), result);
  }

  // In batches, on these numbers of threads.
  void expect_what_each_gets_alone(const std::vector<SearchRequest>& all,
                                   const std::vector<int>& thread_counts) {
    const RequestResults wanted = each_alone(all);
    for (const int threads : thread_counts) {
      SavedModel saved(folder_.path, *GetParam().kernels, threads, GetParam().precision);
      QueuedSearch one(saved.models(), {.sentences = 16, .batch_tokens = 90});
      add_all(one, all);
      expect_same(run(one), wanted);
      EXPECT_EQ(one.cache_rows_in_use(), 0);
      SteppedSearches several(saved.models(), {.sentences = 9}, 3);
      add_all(several, all);
      expect_same(run(several), wanted);
    }
  }

  const ModelFolder folder_{
      "requests", 40, true, {.size = 45, .shared = true}, {}, GetParam().self_attention};
  SavedModel saved_{folder_.path, *GetParam().kernels, 1, GetParam().precision};
  std::optional<Shortlist> shortlist_;
  const WordEdges edges_{*saved_.vocabularies.target};
};

TEST_P(RequestsTest, EachGetsWhatItGetsAlone) {
  for (const uint64_t seed : {1, 2, 3}) expect_what_each_gets_alone(requests(120, seed), {1, 3});
}

// Which have fewer requests.
class RequestsOnAGpu : public RequestsTest {};

TEST_P(RequestsOnAGpu, EachGetsWhatItGetsAlone) { expect_what_each_gets_alone(requests(12, 1), {1}); }

// Token by token, in a batch, and after one pass over a pair of source and output: the same bits.
TEST_P(RequestsTest, AttentionIsThatOfGivenTranslations) {
  auto all = requests(60, 5);
  for (SearchRequest& request : all) {
    if (request.source[0] % 3 == 0) request.start = StartTokens({2, 9});
  }
  QueuedSearch search(saved_.models(), {.sentences = 16});
  add_all(search, all);
  size_t compared = 0;
  for (const auto& [id, result] : run(search)) {
    const SearchRequest& request = all[id];
    if (request.attention_layer == 0) continue;
    ASSERT_EQ(result.attention.size(), result.hypotheses.size());
    for (size_t h = 0; h < result.hypotheses.size(); ++h, ++compared) {
      PackedSide source, output;
      source.add(request.source.data(), request.source.data() + request.source.size());
      const std::vector<int32_t>& tokens = result.hypotheses[h].tokens;
      output.add(tokens.data(), tokens.data() + tokens.size());
      const StartTokens start = request.start ? *request.start : StartTokens(1);
      EXPECT_EQ(result.attention[h],
                attention_rows(saved_.model, source, output, start, request.attention_layer)[0]);
    }
  }
  EXPECT_GT(compared, 30U);
}

// Of a recurrent unit a hypothesis has one state, however long it is; of attention, a row for each token.
TEST_P(RequestsTest, ACacheHasWhatTheNextStepReads) {
  QueuedSearch search(saved_.models(), {.sentences = 1});
  const int64_t source = 9, beam = 3;
  search.add(0, {.source = std::vector<int32_t>(source, 7), .options = {.beam = beam, .min_length = 30}});
  int64_t most = 0;
  for (int64_t step = 0; search.busy(); ++step) {
    search.step();
    most = std::max(most, search.cache_rows_in_use());
  }
  if (GetParam().self_attention == DecoderSelfAttention::ssru)
    EXPECT_LE(most, source + beam);
  else
    EXPECT_GE(most, source + 30);
}

// Whichever goes, and at whichever step: the others' bits stay, and no row of a cache stays taken.
TEST_P(RequestsTest, OneThatIsCancelledLeavesNoTrace) {
  const auto all = requests(12, 4);
  const RequestResults wanted = each_alone(all);
  for (int step = 0; step < 24; ++step) {
    QueuedSearch search(saved_.models(), {.sentences = 8});
    add_all(search, all);
    RequestResults results;
    for (int i = 0; search.busy(); ++i) {
      if (i == step) {
        const int64_t before = search.cache_rows_in_use();
        const bool active = i > 0 && !results.contains(2);
        search.cancel(2);
        EXPECT_EQ(search.cache_rows_in_use() < before, active) << "freed at once";
        search.cancel(11);  // which waits at first
        search.cancel(99);
      }
      for (RequestResult& result : search.step()) results.emplace(result.id, std::move(result));
    }
    ASSERT_EQ(results.size(), all.size());
    for (const auto& [id, result] : wanted) {
      if (results.at(id).status == SearchStatus::cancelled) {
        EXPECT_TRUE(id == 2 || id == 11);
        EXPECT_TRUE(results.at(id).hypotheses.empty());
      } else {
        expect_same_result(results.at(id), result);
      }
    }
    if (step <= 1) {
      EXPECT_EQ(results.at(2).status, SearchStatus::cancelled);
      EXPECT_EQ(results.at(11).status, SearchStatus::cancelled);
    }
    EXPECT_EQ(search.cache_rows_in_use(), 0);
  }
}

TEST_P(RequestsTest, SearchesSideBySideCancel) {
  const auto all = requests(60, 5);
  const RequestResults wanted = each_alone(all);
  for (const int searches : {1, 3}) {
    SteppedSearches search(saved_.models(), {.sentences = 6}, searches);
    add_all(search, all);
    search.cancel(57);
    RequestResults results;
    for (uint64_t next = 0; search.busy(); ++next) {
      search.cancel(3 * next);
      for (RequestResult& result : search.step()) {
        EXPECT_FALSE(results.contains(result.id));
        results.emplace(result.id, std::move(result));
      }
    }
    ASSERT_EQ(results.size(), all.size());
    EXPECT_EQ(results.at(57).status, SearchStatus::cancelled) << "it waited";
    for (const auto& [id, result] : results) {
      if (result.status == SearchStatus::finished)
        expect_same_result(result, wanted.at(id));
      else
        EXPECT_EQ(id % 3, 0U);
    }
    EXPECT_TRUE(search.frees_all_rows());
  }
}

TEST_P(RequestsTest, OneExpiresAtItsDeadline) {
  const auto all = requests(20, 6);
  const RequestResults wanted = each_alone(all);
  const std::set<uint64_t> late = {1, 4, 19};
  for (const int searches : {1, 3}) {
    SteppedSearches search(saved_.models(), {.sentences = 3}, searches);
    const auto now = steady_clock::now(), never = now + std::chrono::hours(24);
    for (uint64_t i = 0; i < all.size(); ++i)
      search.add(i, all[i], {.client = i % 2, .deadline = late.contains(i) ? now : never});
    const RequestResults results = run(search);
    ASSERT_EQ(results.size(), all.size());
    for (const auto& [id, result] : results) {
      EXPECT_EQ(result.status, late.contains(id) ? SearchStatus::expired : SearchStatus::finished) << id;
      if (!late.contains(id)) expect_same_result(result, wanted.at(id));
    }
  }
}

TEST_P(RequestsTest, ADeadlineEndsOneThatIsUnderWay) {
  SearchRequest request = {.source = {5, 6, 7},
                           .options = {.beam = 2, .max_length = 100'000, .max_length_ratio = 0}};
  request.options.min_length = 100'000;
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(20);
  SteppedSearches search(saved_.models(), {}, 1);
  search.add(0, request, {.deadline = deadline});
  EXPECT_EQ(run(search).at(0).status, SearchStatus::expired);
  EXPECT_GE(steady_clock::now(), deadline);
  EXPECT_EQ(search.sentences_under_way(), 0);
}

bool begins_with(const Sentence& tokens, const Sentence& beginning) {
  return tokens.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), tokens.begin());
}

// What is final grows, is a beginning of the best hypothesis at each step, and of the result's.
TEST_P(RequestsTest, WhatIsFinalStays) {
  auto all = requests(150, 7);
  for (SearchRequest& request : all) request.progress = true;
  QueuedSearch search(saved_.models(), {.sentences = 10});
  add_all(search, all);
  std::map<uint64_t, Sentence> final_tokens;
  size_t finals = 0, shown = 0, results = 0;
  while (search.busy()) {
    for (const RequestResult& result : search.step()) {
      EXPECT_TRUE(begins_with(result.hypotheses[0].tokens, final_tokens[result.id]));
      ++results;
    }
    for (const SearchProgress& progress : search.progress()) {
      Sentence& known = final_tokens[progress.id];
      ASSERT_LE(progress.final_tokens, progress.tokens.size());
      ASSERT_GE(progress.final_tokens, known.size());
      EXPECT_TRUE(begins_with(progress.tokens, known));
      known.assign(progress.tokens.begin(),
                   progress.tokens.begin() + static_cast<std::ptrdiff_t>(progress.final_tokens));
      const SearchOptions& options = all[progress.id].options;
      EXPECT_TRUE(beam_width(options) > 1 || progress.final_tokens == progress.tokens.size());
      finals += progress.final_tokens, shown += progress.tokens.size();
    }
  }
  EXPECT_EQ(results, all.size());
  EXPECT_GT(finals, shown / 4) << "much of it is final early";
  EXPECT_LT(finals, shown);
}

// Where an output loops the caller searches again: what was final in the first search is in the second one's result.
TEST_P(RequestsTest, WhatIsFinalStaysWhenLoopsAreForbidden) {
  for (SearchRequest request : requests(100, 8)) {
    request.options.max_length = 40, request.options.max_length_ratio = 0,
    request.options.no_repeat_ngram = 0;
    request.progress = true, request.retry_ngram = 3;
    QueuedSearch first(saved_.models(), {}), second(saved_.models(), {});
    first.add(0, request);
    request.options.no_repeat_ngram = 3;
    second.add(0, request);
    const Sentence wanted = run(second).at(0).hypotheses[0].tokens;
    while (first.busy()) {
      first.step();
      for (const SearchProgress& progress : first.progress()) {
        const auto end = progress.tokens.begin() + static_cast<std::ptrdiff_t>(progress.final_tokens);
        ASSERT_TRUE(begins_with(wanted, {progress.tokens.begin(), end}));
      }
    }
  }
}

TEST_P(RequestsTest, SearchesSideBySideReportProgress) {
  auto all = requests(40, 9);
  for (size_t i = 0; i < all.size(); ++i) all[i].progress = i % 2 == 0;
  SteppedSearches search(saved_.models(), {.sentences = 4}, 3);
  add_all(search, all);
  std::set<uint64_t> ended;
  while (search.busy()) {
    for (const RequestResult& result : search.step()) ended.insert(result.id);
    for (const SearchProgress& progress : search.progress()) {
      EXPECT_EQ(progress.id % 2, 0U);
      EXPECT_FALSE(ended.contains(progress.id));
    }
  }
  EXPECT_GT(search.reports(), 0U);
}

INSTANTIATE_TEST_SUITE_P(On, RequestsTest, testing::ValuesIn(cases_on(every_instruction_set())),
                         name_of_case);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RequestsOnAGpu);
INSTANTIATE_TEST_SUITE_P(On, RequestsOnAGpu, testing::ValuesIn(cases_on(gpu_tables())), name_of_case);

// A model with one damaged word, which sentences may have.
class DamagedWord : public testing::TestWithParam<ModelCase> {
 protected:
  static constexpr int32_t damaged = 4;

  static void damage(Transformer& model, Device& device, Precision precision) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    const Tensor& table = model.source_embedding.tokens;
    if (precision != Precision::int8) std::fill_n(table.row_range(damaged, 1).data(), table.columns(), none);
    if (precision != Precision::fp32) quantize_weights(device, model.parameters, precision);
    if (precision == Precision::int8)
      const_cast<float*>(table.storage().low_precision.scales)[damaged] = none;
  }
};

TEST_P(DamagedWord, FailsTheRequestsThatHaveItAlone) {
  const auto& [named, kernels, precision] = GetParam();
  SmallModel sound(named.config, *kernels, 1), broken(named.config, *kernels, 2);
  Transformer second(named.config, broken.device, Buffers::weights);
  second.parameters.initialise(7);
  if (precision != Precision::fp32) quantize_weights(sound.device, sound.model.parameters, precision);
  damage(broken.model, broken.device, precision);
  RandomRequests random(1, std::min(named.config.source_vocabulary, named.config.target_vocabulary));
  std::vector<SearchRequest> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(random.request(nullptr));
    std::ranges::replace(all.back().source, damaged, damaged + 1);
    for (Neighbour& neighbour : all.back().neighbours)
      std::ranges::replace(neighbour.source, damaged, damaged + 1);
    if (random.one_in(4)) all.back().source[0] = damaged;
  }
  const auto has_it = [&](uint64_t id) { return std::ranges::count(all[id].source, damaged) > 0; };
  QueuedSearch mixed({&broken.model}, {.sentences = 12}),
      together({&second, &broken.model, &second}, {.sentences = 12});
  SteppedSearches several({&broken.model}, {.sentences = 3}, 3);
  for (size_t i = 0; i < all.size(); ++i)
    mixed.add(i, all[i]), together.add(i, all[i]), several.add(i, all[i]);
  for (const RequestResults& results : {run(mixed), run(several)}) {
    ASSERT_EQ(results.size(), all.size());
    for (const auto& [id, result] : results) {
      EXPECT_EQ(result.status, has_it(id) ? SearchStatus::failed : SearchStatus::finished) << id;
      EXPECT_EQ(result.hypotheses.empty(), has_it(id));
      if (has_it(id)) continue;
      QueuedSearch alone({&sound.model}, {.sentences = 1});
      alone.add(id, all[id]);
      expect_same_result(result, run(alone).at(id));
    }
  }
  for (const auto& [id, result] : run(together))
    EXPECT_EQ(result.status, has_it(id) ? SearchStatus::failed : SearchStatus::finished) << id;
  EXPECT_EQ(mixed.cache_rows_in_use(), 0);
}

std::vector<ModelCase> cases_with_tables_of_their_own() {
  std::vector<ModelCase> cases = decoding_cases();
  std::erase_if(cases, [](const ModelCase& c) {
    return has_shared_embedding(c.named.config) || is_gpu_table(c.kernels);
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(On, DamagedWord, testing::ValuesIn(cases_with_tables_of_their_own()),
                         model_case_name);

}  // namespace
}  // namespace dragoman::internal
