// Searching with a model: it finds what an exhaustive search finds, its scores are those of scoring all at once, and
// a sentence's result is its own.
#include <algorithm>
#include <map>

#include "model/small_models.h"
#include "search/score.h"
#include "search/stepped.h"
#include "text/special_ids.h"

namespace dragoman::internal {
namespace {

// log p of each token of the outputs and of their end marks, all at once.
std::vector<std::vector<float>> teacher_forced(Transformer& model, const Sentence& source,
                                               const std::vector<Sentence>& outputs) {
  std::vector<Sentence> sources(outputs.size(), source), inputs = outputs, targets = outputs;
  for (Sentence& input : inputs) input.insert(input.begin(), bos_id);
  for (Sentence& target : targets) target.push_back(eos_id);
  const std::vector<uint64_t> pairs(outputs.size());
  const Tokens x = pack(model.device, sources, pairs), y = pack(model.device, inputs, pairs),
               wanted = pack(model.device, targets, pairs);
  Pass pass{model.device};
  const Tensor losses = loss(pass, model, x, y, wanted.ids, {0, SmoothingOver::all});
  const HostView<const float> values = losses.values();
  std::vector<std::vector<float>> scores;
  for (const Span& span : y.spans.spans.values()) {
    scores.emplace_back();
    for (int32_t t = 0; t < span.length; ++t)
      scores.back().push_back(-values[static_cast<size_t>(2 * (span.begin + t) + 1)]);
  }
  return scores;
}

double sum(const std::vector<float>& values) {
  double total = 0;
  for (const float v : values) total += static_cast<double>(v);
  return total;
}

// Every sequence of up to `longest` of these tokens.
std::vector<Sentence> all_outputs(int32_t vocabulary, size_t longest) {
  std::vector<Sentence> outputs = {{}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (int32_t token = 0; outputs[i].size() < longest && token < vocabulary; ++token) {
      if (token == eos_id) continue;
      outputs.push_back(outputs[i]);
      outputs.back().push_back(token);
    }
  }
  return outputs;
}

class SearchTest : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }
  FoundHypotheses search(Transformer& model, const SearchOptions& options,
                         SearchSettings settings = {}) const {
    return search_all(model, packed_side(sources_), options, settings);
  }
  FoundHypotheses search(const SearchOptions& options) { return search(small_.model, options); }

  void expect_scores_of_scoring_all_at_once() {
    const FoundHypotheses found = search({.beam = 4, .nbest = 4, .max_length = 12});
    for (size_t i = 0; i < sources_.size(); ++i) {
      std::vector<Sentence> outputs;
      for (const Hypothesis& h : found[i]) outputs.push_back(h.tokens);
      const auto log_p = teacher_forced(small_.model, sources_[i], outputs);
      for (size_t n = 0; n < outputs.size(); ++n) {
        EXPECT_TRUE(same_bits(found[i][n].log_probabilities, log_p[n])) << "sentence " << i << ", " << n;
        EXPECT_NEAR(found[i][n].total, sum(log_p[n]), 1e-9);
      }
    }
  }

  // With all words but `never`, of five.
  void expect_what_an_exhaustive_search_finds(double penalty, const std::vector<int32_t>& never) {
    ModelConfig tiny = config();
    tiny.source_vocabulary = tiny.target_vocabulary = 5;
    SmallModel small(tiny, *GetParam().kernels, 1);
    std::vector<Sentence> outputs = all_outputs(5, 3);
    std::erase_if(outputs, [&](const Sentence& output) {
      return std::ranges::find_first_of(output, never) != output.end();
    });
    const std::vector<Sentence> sources = random_sentences(3, 5, 6, 4);
    const SearchOptions options = {
        .beam = 125, .nbest = 12, .length_penalty = penalty, .max_length = 3, .max_length_ratio = 0};
    const FoundHypotheses found =
        search_all(small.model, packed_side(sources), options, {.suppressed = never});
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto log_p = teacher_forced(small.model, sources[i], outputs);
      std::multimap<double, Sentence, std::greater<>> ranked;
      for (size_t o = 0; o < outputs.size(); ++o) {
        const auto length = static_cast<int64_t>(log_p[o].size());
        ranked.emplace(sum(log_p[o]) / length_divisor(options, length), outputs[o]);
      }
      ASSERT_EQ(found[i].size(), 12U);
      auto best = ranked.begin();
      for (const Hypothesis& h : found[i]) {
        EXPECT_EQ(h.tokens, best->second) << "sentence " << i << ", exponent " << penalty;
        EXPECT_NEAR(h.score, best->first, 1e-5);
        ++best;
      }
    }
  }

  const std::vector<Sentence> sources_ = random_sentences(9, config().source_vocabulary, 40, 1);
  SmallModel small_{config(), *GetParam().kernels, 2};
};

TEST_P(SearchTest, AWideBeamFindsWhatAnExhaustiveSearchFinds) {
  for (const double penalty : {0.6, 0.0, 2.0}) {
    expect_what_an_exhaustive_search_finds(penalty, {});
    if (is_gpu_table(GetParam().kernels)) break;
  }
}

// What the decoder is given after the start token counts as said with probability 1, and is not part of the output.
TEST_P(SearchTest, ForcedTokensGoBeforeTheOutput) {
  const int32_t word = search(small_.model, {.beam = 1, .max_length = 12})[0][0].tokens.at(0) == 4 ? 5 : 4;
  for (const SearchOptions& options :
       {SearchOptions{.beam = 1, .max_length = 12}, SearchOptions{.beam = 4, .nbest = 4, .max_length = 12},
        SearchOptions{.beam = 3, .max_length = 12, .no_repeat_ngram = 3}}) {
    const FoundHypotheses found = search(small_.model, options, {.start = std::vector{bos_id, word}});
    for (size_t i = 0; i < sources_.size(); ++i) {
      PackedSide source, targets, sources;
      for (const Hypothesis& h : found[i]) {
        sources.add(sources_[i].data(), sources_[i].data() + sources_[i].size());
        targets.add(h.tokens.data(), h.tokens.data() + h.tokens.size());
      }
      const auto log_p = score_pairs(small_.model, sources, targets, std::vector{bos_id, word}, eos_id);
      for (size_t n = 0; n < found[i].size(); ++n) {
        const Hypothesis& h = found[i][n];
        EXPECT_TRUE(same_bits(h.log_probabilities, log_p[n])) << "sentence " << i << ", " << n;
        EXPECT_NEAR(h.score, sum(log_p[n]) / length_divisor(options, std::ssize(log_p[n]) + 1), 1e-6);
      }
    }
  }
}

// One batch, each request with what its decoder reads first: as if each were alone.
TEST_P(SearchTest, RequestsHaveStartTokensOfTheirOwn) {
  const std::vector<StartTokens> starts = {bos_id, std::vector{bos_id, 4}, std::vector{5},
                                           std::vector{bos_id, 6, 4}};
  const auto request = [&](size_t i) {
    return SearchRequest{
        .source = sources_[i], .start = starts[i % 4], .options = {.beam = 3, .max_length = 12}};
  };
  QueuedSearch together({&small_.model}, {.sentences = 4});
  for (size_t i = 0; i < sources_.size(); ++i) together.add(i, request(i));
  std::vector<Hypothesis> best(sources_.size());
  while (together.busy())
    for (RequestResult& result : together.step()) best[result.id] = result.hypotheses.at(0);
  EXPECT_EQ(together.cache_rows_in_use(), 0);
  for (size_t i = 0; i < sources_.size(); ++i) {
    QueuedSearch alone({&small_.model}, {});
    alone.add(0, request(i));
    while (alone.busy()) {
      for (RequestResult& result : alone.step()) {
        EXPECT_EQ(result.hypotheses.at(0).tokens, best[i].tokens);
        EXPECT_TRUE(same_bits(result.hypotheses[0].log_probabilities, best[i].log_probabilities));
      }
    }
  }
}

TEST_P(SearchTest, NoOutputHasAForbiddenToken) {
  expect_what_an_exhaustive_search_finds(0.6, {3});
  for (const SearchOptions& options : {SearchOptions{.beam = 1, .max_length = 12},
                                       SearchOptions{.beam = 3, .max_length = 12, .no_repeat_ngram = 2},
                                       SearchOptions{.nbest = 3, .max_length = 12, .sample = true}}) {
    const FoundHypotheses free = search(small_.model, options);
    const auto said = std::ranges::find_if(free, [](const auto& found) { return !found[0].tokens.empty(); });
    ASSERT_NE(said, free.end());
    const int32_t word = (*said)[0].tokens[0];
    for (const auto& found : search(small_.model, options, {.suppressed = {word}})) {
      for (const Hypothesis& h : found) EXPECT_EQ(std::ranges::count(h.tokens, word), 0);
    }
  }
}

// However many there are, and so however the search excludes them.
TEST_P(SearchTest, ForbiddenTokensMayBeMany) {
  const std::vector<int32_t> few = {5, 9, 11, 14};
  std::vector<int32_t> many;
  for (int i = 0; i < 20; ++i) many.insert(many.end(), few.begin(), few.end());
  for (const SearchOptions& options :
       {SearchOptions{.beam = 1, .max_length = 12}, SearchOptions{.beam = 4, .nbest = 4, .max_length = 12}}) {
    const FoundHypotheses wanted = search(small_.model, options, {.suppressed = few}),
                          got = search(small_.model, options, {.suppressed = many});
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].size(), wanted[i].size());
      for (size_t j = 0; j < wanted[i].size(); ++j) {
        EXPECT_EQ(got[i][j].tokens, wanted[i][j].tokens);
        EXPECT_EQ(got[i][j].log_probabilities, wanted[i][j].log_probabilities);
      }
    }
  }
}

TEST_P(SearchTest, ABeamOfOneTakesTheMostProbable) {
  const SearchOptions options = {.beam = 1, .max_length = 45, .max_length_ratio = 0};
  const FoundHypotheses found = search(small_.model, options, {.end = -1});
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Sentence& output = found[i][0].tokens;
    ASSERT_EQ(output.size(), 45U);  // the cache has to grow for it
    Sentence read = output;         // what the decoder read: the output, shifted by its start
    read.insert(read.begin(), bos_id);
    read.pop_back();
    Pass pass{small_.device};
    const Tokens source = pack(small_.device, {sources_[i]}, {0}), target = pack(small_.device, {read}, {0});
    const EncodedSource memory = {.encoded = encode(pass, small_.model, source), .spans = &source.spans};
    const Tensor scores = next_word_logits(pass, small_.model, decode(pass, small_.model, target, memory));
    const Array<Element> best(small_.device.pool, scores.rows());
    small_.device.kernels.top(small_.device.context, scores, 1, best.data());
    EXPECT_TRUE(std::ranges::equal(output, best.download(), {}, {}, &Element::column)) << "sentence " << i;
  }
  const FoundHypotheses ending = search(options);  // the same, up to the first end mark
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Sentence& endless = found[i][0].tokens;
    EXPECT_EQ(ending[i][0].tokens, Sentence(endless.begin(), std::ranges::find(endless, eos_id)));
  }
}

TEST_P(SearchTest, ScoresAreThoseOfScoringAllAtOnce) { expect_scores_of_scoring_all_at_once(); }

class SearchInFewerBits : public SearchTest {
 protected:
  SearchInFewerBits() { quantize_weights(small_.device, small_.model.parameters, GetParam().precision); }
};

TEST_P(SearchInFewerBits, ScoresAreThoseOfScoringAllAtOnce) { expect_scores_of_scoring_all_at_once(); }

TEST_P(SearchTest, AlternativesAreSortedAndDiffer) {
  for (const SearchOptions& options : {SearchOptions{.beam = 6, .nbest = 5, .max_length = 12},
                                       SearchOptions{.nbest = 5, .max_length = 12, .sample = true}}) {
    for (const auto& found : search(options)) {
      EXPECT_TRUE(std::ranges::is_sorted(found, std::greater{}, &Hypothesis::score));
      EXPECT_GE(found.size(), options.sample ? 2U : 5U);
      for (size_t i = 0; i < found.size(); ++i) {
        for (size_t j = 0; j < i; ++j) EXPECT_NE(found[i].tokens, found[j].tokens);
      }
    }
  }
}

void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].tokens, wanted[i].tokens);
    EXPECT_EQ(got[i].score, wanted[i].score);
    EXPECT_TRUE(same_bits(got[i].log_probabilities, wanted[i].log_probabilities));
  }
}

TEST_P(SearchTest, ASentenceGetsWhatItGetsAlone) {
  SmallModel one_thread(config(), *GetParam().kernels, 1);
  for (const SearchOptions& options :
       {SearchOptions{.beam = 3, .nbest = 2, .max_length = 14},
        SearchOptions{.nbest = 2, .max_length = 14, .sample = true, .temperature = 0.8}}) {
    const FoundHypotheses wanted = search(one_thread.model, options, {.sentences = 1});
    for (const int64_t sentences : {2, 7, 32}) {
      SCOPED_TRACE(std::to_string(sentences) + " sentences at once");
      for (Transformer* model : {&one_thread.model, &small_.model}) {
        const FoundHypotheses got = search(*model, options, {.sentences = sentences, .batch_tokens = 40});
        for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
      }
    }
    const std::vector<uint64_t> order = {4, 0, 8, 4};
    QueuedSearch mixed({&small_.model}, {.sentences = 2});
    for (const uint64_t i : order) mixed.add(i, {.source = sources_[i], .options = options});
    while (mixed.busy()) {
      for (const RequestResult& result : mixed.step()) expect_same(result.hypotheses, wanted[result.id]);
    }
  }
}

// A sentence that waits begins when another has ended, not when all have.
TEST_P(SearchTest, SentencesTakeTheSlotsOfThoseThatLeave) {
  const SearchOptions options = {.beam = 1, .max_length = 30, .max_length_ratio = 1};
  QueuedSearch search({&small_.model}, {.end = -1, .sentences = 2});
  search.add(0, {.source = Sentence(20, 3), .options = options});                        // 30 tokens
  for (uint64_t i = 1; i <= 3; ++i) search.add(i, {.source = {3}, .options = options});  // 11 each
  std::map<uint64_t, int> ended;
  int steps = 0;
  for (; search.busy(); ++steps) {
    for (const RequestResult& result : search.step()) ended[result.id] = steps;
  }
  EXPECT_EQ(ended, (std::map<uint64_t, int>{{0, 29}, {1, 10}, {2, 21}, {3, 32}}));
}

TEST_P(SearchTest, OptionsChangeWhatIsFound) {
  const auto length = [](const FoundHypotheses& results) {
    size_t total = 0;
    for (const auto& found : results) total += found[0].tokens.size();
    return total;
  };
  const SearchOptions plain = {.beam = 4, .length_penalty = 0, .max_length = 20, .max_length_ratio = 0};
  // A mark that outputs often end with: one that is said again and again.
  const Sentence endless = search(small_.model, plain, {.end = -1})[1][0].tokens;
  const SearchSettings settings = {.end = endless[10]};
  const auto search = [&](const SearchOptions& options) {
    return search_all(small_.model, packed_side(sources_), options, settings);
  };
  const FoundHypotheses found = search(plain);
  SearchOptions other = plain;
  other.length_penalty = 3;
  EXPECT_GT(length(search(other)), length(found));
  other.penalty_form = LengthPenalty::plain;
  EXPECT_NE(search(other)[0][0].score, found[0][0].score);
  other = plain;
  other.min_length = 15;
  for (const auto& result : search(other)) EXPECT_GE(result[0].tokens.size(), 15U);
  other.min_length = 0, other.max_length = 3;
  for (const auto& result : search(other)) EXPECT_LE(result[0].tokens.size(), 3U);
  other = plain;
  other.no_repeat_ngram = 1, other.min_length = 12;
  for (const auto& result : search(other)) {
    Sentence tokens = result[0].tokens;
    std::ranges::sort(tokens);
    EXPECT_TRUE(std::ranges::adjacent_find(tokens) == tokens.end());
  }
  const SearchOptions sampled = {.max_length = 20, .sample = true};
  SearchOptions seeded = sampled, sure = sampled;
  seeded.seed = 2, sure.top_k = 1;
  EXPECT_NE(search(seeded)[1][0].tokens, search(sampled)[1][0].tokens);
  const FoundHypotheses greedy = search({.beam = 1, .max_length = 20}), top_1 = search(sure);
  for (size_t i = 0; i < greedy.size(); ++i) expect_same(top_1[i], greedy[i]);
}

// A rule looks at all words, and without one the likeliest are enough: a rule that forbids nothing changes nothing.
TEST_P(SearchTest, LookingAtAllWordsChangesNothing) {
  for (const int64_t beam : {1, 4}) {
    const SearchOptions options = {.beam = beam, .nbest = beam, .max_length = 14};
    SearchOptions ruled = options;
    ruled.no_repeat_ngram = 1000;
    const FoundHypotheses got = search(options), wanted = search(ruled);
    for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
  }
}

TEST_P(SearchTest, AnOutputBeginsWithItsPrefix) {
  QueuedSearch search({&small_.model}, {.max_output_length = 12});
  const Sentence prefix = {7, 8, 7, 9, 10, 7, 8};
  search.add(0, {.source = sources_[1], .prefix = prefix, .options = {.beam = 3, .max_length = 9}});
  while (search.busy()) {
    for (const RequestResult& result : search.step()) {
      const Sentence& tokens = result.hypotheses[0].tokens;
      ASSERT_GE(tokens.size(), prefix.size());
      EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), tokens.begin()));
      const auto log_p = teacher_forced(small_.model, sources_[1], {tokens});
      EXPECT_TRUE(same_bits(result.hypotheses[0].log_probabilities, log_p[0]));
    }
  }
}

// What has been translated once needs nothing new from the system, and all memory comes back to the pool.
TEST_P(SearchTest, NeedsNoMoreMemoryOnceWarm) {
  const size_t in_use_before = (search({.beam = 1, .max_length = 1}), small_.device.pool.in_use());
  const auto work = [&] {
    for (int64_t length = 5; length < 45; length += 13) search({.beam = 3, .max_length = length});
    EXPECT_EQ(small_.device.pool.in_use(), in_use_before);
    return small_.device.pool.high_water_mark();
  };
  work();
  const size_t reached = work();
  EXPECT_EQ(work(), reached);
}

TEST_P(SearchTest, EqualSamplesAreOne) {
  const SearchOptions sure = {.nbest = 5, .max_length = 9, .sample = true, .top_k = 1};
  for (const auto& found : search(sure)) EXPECT_EQ(found.size(), 1U);
}

TEST_P(SearchTest, NothingToDo) {
  EXPECT_TRUE(search_all(small_.model, {}, {}, {}).empty());
  QueuedSearch search({&small_.model}, {});
  EXPECT_FALSE(search.busy());
  EXPECT_TRUE(search.step().empty());
}

INSTANTIATE_TEST_SUITE_P(On, SearchTest, testing::ValuesIn(few_on_fibers(model_cases())), model_case_name);
INSTANTIATE_TEST_SUITE_P(On, SearchInFewerBits, testing::ValuesIn(few_on_fibers(cases_in_fewer_bits())),
                         model_case_name);

}  // namespace
}  // namespace dragoman::internal
