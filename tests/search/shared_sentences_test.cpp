// Equal sentences are translated once, turns are kept, and neither changes a translation.
#include "search/sentence_cache.h"
#include "search/text_requests.h"
#include "search/turns.h"

namespace dragoman::internal {
namespace {

using SharedSentencesTest = TranslatorTest;

// Each three times at once, and once more when they are done; one of three is cancelled on the way.
TEST_F(SharedSentencesTest, EqualRequestsGetWhatTheyGetAlone) {
  const auto all = requests(40, 7);
  Results alone;
  for (size_t i = 0; i < all.size(); ++i) {
    Translator translator(model_, {.sentences = 1});
    translator.add(i, all[i]);
    alone.merge(run_all(translator));
  }
  for (const size_t cache_bytes : {0, 20'000, 10'000'000}) {
    for (const int searches : {1, 3}) {
      Translator translator(model_, {.sentences = 7, .searches = searches, .cache_bytes = cache_bytes});
      for (size_t i = 0; i < 3 * all.size(); ++i) translator.add(i, all[i / 3]);
      Results results;
      for (size_t step = 0; translator.busy(); ++step) {
        if (step < all.size()) translator.cancel(3 * step + step % 3);
        for (TranslationResult& result : translator.step()) results.emplace(result.id, std::move(result));
        EXPECT_LE(translator.cache_bytes(), cache_bytes);
      }
      for (size_t i = 0; i < all.size(); ++i) translator.add(3 * all.size() + i, all[i]);
      results.merge(run_all(translator));
      ASSERT_EQ(results.size(), 4 * all.size());
      size_t finished = 0;
      for (const auto& [id, result] : results) {
        if (result.status == SearchStatus::cancelled) continue;
        ++finished;
        SCOPED_TRACE(id);
        expect_same(result, alone.at(id < 3 * all.size() ? id / 3 : id - 3 * all.size()));
      }
      EXPECT_GE(finished, 3 * all.size());
      EXPECT_GT(translator.counts().merged, all.size() / 2);
      const uint64_t hits = translator.counts().cache_hits;
      EXPECT_TRUE(cache_bytes == 0 ? hits == 0 : cache_bytes < 1'000'000 || hits >= all.size() / 2) << hits;
    }
  }
}

// What its result depends on is in the key: with a cache, requests that differ in one option alone.
TEST_F(SharedSentencesTest, OptionsAreKeptApart) {
  std::vector<SearchOptions> options(9, {.beam = 3, .max_length = 20});
  options[1].nbest = 3;
  options[2].coverage_penalty = 0.7;
  options[3].coverage_penalty = 0.7, options[3].nbest = 2;
  options[4].length_penalty = 2;
  options[5].no_repeat_ngram = 1;
  options[6].sample = true;
  options[7].sample = true, options[7].seed = 2;
  options[8].alignment = true;
  Translator translator(model_, {.cache_bytes = 1 << 20});
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < options.size(); ++i) translator.add(i, {.text = texts[5], .options = options[i]});
    Results results = run_all(translator);
    for (size_t i = 0; i < options.size(); ++i) {
      SCOPED_TRACE(i);
      Translator alone(model_, {.sentences = 1});
      alone.add(i, {.text = texts[5], .options = options[i]});
      expect_same(results.at(i), run_all(alone).at(i));
    }
  }
}

TEST_F(SharedSentencesTest, OneThatExpiresLeavesTheOthers) {
  Translator translator(model_, {.sentences = 2});
  const TranslationRequest request = {.text = texts[0], .options = {.max_length = 15}};
  TranslationRequest hurried = request;
  hurried.deadline = std::chrono::steady_clock::now();
  translator.add(0, hurried);
  translator.add(1, request);
  const Results results = run_all(translator);
  EXPECT_EQ(results.at(0).status, SearchStatus::expired);
  EXPECT_EQ(results.at(1).status, SearchStatus::finished);
}

// So that a client who goes away costs no more than a step.
TEST_F(SharedSentencesTest, WhoIsCancelledFreesItsRowsWithTheNextStep) {
  const SearchOptions endless = {.max_length = 100'000, .max_length_ratio = 0, .min_length = 100'000};
  for (const int searches : {1, 3}) {
    Translator translator(model_, {.sentences = 2, .searches = searches});
    translator.add(0, {.text = texts[0], .options = endless});
    translator.add(1, {.text = texts[6], .options = endless});
    for (int step = 0; step < 5; ++step) EXPECT_TRUE(translator.step().empty());
    EXPECT_EQ(translator.sentences_under_way(), 2);
    translator.cancel(0);
    const uint64_t before = translator.steps();
    while (translator.sentences_under_way() == 2) translator.step();
    EXPECT_LE(translator.steps(), before + 2);  // one may have been under way
    translator.cancel(1);
    run_all(translator);
  }
}

// A long text has all rows; one that comes later has the next that is free.
TEST_F(SharedSentencesTest, ALongTextTakesTurns) {
  std::string text;
  for (const char first : std::string("abcdefghijklmnop")) text += std::string(1, first) + " cat sleeps. ";
  Turns turns;
  Translator translator(model_, {.sentences = 2});
  const SearchOptions options = {.split_sentences = "en", .beam = 1, .max_length = 10};
  translator.add(0, {.text = text, .options = options, .turn = turns.next(1, 1000)});
  turns.reach(translator.reached_turn());
  const Turn late = turns.next(2, 10), later = turns.next(1, 10);
  EXPECT_GT(later.start, 999);
  while (!translator.has_room(late.start)) translator.step();
  translator.add(1, {.text = texts[0], .options = options, .turn = late});
  std::vector<uint64_t> order;
  while (translator.busy())
    for (const TranslationResult& result : translator.step()) order.push_back(result.id);
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 0}));
}

// The rows that are reserved are for clients that have none: each begins with the next step.
TEST_F(SharedSentencesTest, OneClientCannotHaveAllRows) {
  const SearchOptions endless = {.max_length = 100'000, .max_length_ratio = 0, .min_length = 100'000};
  const auto line = [](char first) { return std::string(1, first) + " cat sleeps."; };
  for (const int searches : {1, 3}) {
    Translator translator(model_, {.sentences = 6, .searches = searches, .reserved = 2});
    std::string text;
    for (char first = 'a'; first <= 'z'; ++first) text += line(first) + " ";
    SearchOptions by_sentence = endless;
    by_sentence.split_sentences = "en";
    translator.add(0, {.text = text, .options = by_sentence, .turn = {0, 1000}, .client = 1});
    translator.step();
    EXPECT_EQ(translator.sentences_under_way(), 4 * searches);
    EXPECT_FALSE(translator.has_room(2000, 1));
    for (uint64_t client = 2; client < 2 + 2 * static_cast<uint64_t>(searches); ++client) {
      EXPECT_TRUE(translator.has_room(2000, client)) << client;
      const TranslationRequest one = {.text = line(static_cast<char>('A' + client)),
                                      .options = {.beam = 1, .max_length = 3, .max_length_ratio = 0},
                                      .turn = {2000, 1},
                                      .client = client};
      translator.add(client, one);
      const uint64_t before = translator.steps();
      std::vector<TranslationResult> results;
      while (results.empty()) results = translator.step();
      EXPECT_EQ(results.front().id, client);
      if (searches == 1) {
        EXPECT_LE(translator.steps(), before + 4);
      }
    }
    translator.cancel(0);
    run_all(translator);
  }
}

// Whoever asks, and whatever is reserved: translations stay as they are.
TEST_F(SharedSentencesTest, ReservedRowsChangeNoTranslation) {
  const auto all = requests(60, 11);
  Results alone;
  for (size_t i = 0; i < all.size(); ++i) {
    Translator translator(model_, {.sentences = 1});
    translator.add(i, all[i]);
    alone.merge(run_all(translator));
  }
  for (const int64_t reserved : {0, 1, 3}) {
    for (const int searches : {1, 3}) {
      RandomRequests random(static_cast<uint64_t>(reserved) + 1, 40);
      Translator translator(model_, {.sentences = 4, .searches = searches, .reserved = reserved});
      Results results;
      for (size_t i = 0; i < all.size() || translator.busy();) {
        for (; i < all.size() && !random.one_in(3); ++i) {
          TranslationRequest request = all[i];
          request.client = random.one_in(2) ? 1 : 2 + i % 5;
          request.turn = {static_cast<double>(i), 1};
          translator.add(i, request);
        }
        for (TranslationResult& result : translator.step()) results.emplace(result.id, std::move(result));
        EXPECT_LE(translator.sentences_under_way(), 4 * searches);
      }
      ASSERT_EQ(results.size(), all.size());
      for (const auto& [id, result] : results) {
        SCOPED_TRACE(id);
        expect_same(result, alone.at(id));
      }
    }
  }
}

// What is known already does not keep others from their next step.
TEST_F(SharedSentencesTest, KnownSentencesBeginABatchAtATime) {
  Translator translator(model_, {.sentences = 4, .cache_bytes = 1 << 20});
  const SearchOptions options = {.split_sentences = "en", .beam = 1, .max_length = 10};
  translator.add(0, {.text = "A cat sleeps.", .options = options});
  run_all(translator);
  std::string text;
  for (int i = 0; i < 20; ++i) text += "A cat sleeps. ";
  translator.add(1, {.text = text, .options = options});
  EXPECT_TRUE(translator.step().empty());
  EXPECT_EQ(run_all(translator).at(1).status, SearchStatus::finished);
  EXPECT_EQ(translator.counts().cache_hits, 20u);
}

// In time that grew with the square of their number this would take longer than a test may.
TEST_F(SharedSentencesTest, ManyEqualOnesAreCancelled) {
  Translator translator(model_, {.sentences = 2});
  constexpr uint64_t count = 100'000;
  for (uint64_t id = 0; id < count; ++id)
    translator.add(id, {.text = texts[0], .options = {.max_length = 20}});
  for (uint64_t id = 0; id < count; ++id) translator.cancel(id);
  EXPECT_EQ(run_all(translator).size(), count);
}

TEST(Turns, GoByWhatClientsHaveHad) {
  Turns turns;
  EXPECT_EQ(turns.next(1, 10).start, 0);
  EXPECT_EQ(turns.next(1, 10).start, 10);
  EXPECT_EQ(turns.next(2, 5).start, 0);
  turns.reach(7);
  EXPECT_EQ(turns.next(2, 5).start, 7);
  EXPECT_EQ(turns.next(1, 10).start, 20);
  EXPECT_EQ(turns.next(3, 5).start, 7);
  for (uint64_t client = 4; client < 10'000; ++client) {
    turns.reach(turns.next(client, 1).start + 1);
    EXPECT_GE(turns.next(client, 1).start, 8);
  }
}

TEST(Turns, OfManyClientsThoseThatHadTheLeastAreForgotten) {
  Turns turns;
  turns.next(1, 1e6);
  for (uint64_t client = 2; client < 10'000; ++client) {
    turns.reach(turns.next(client, 1 + static_cast<double>(client % 7)).start);
    ASSERT_LE(turns.clients(), 512u);
  }
  EXPECT_GE(turns.next(1, 1).start, 1e6) << "who has had most is remembered";
  EXPECT_LT(turns.next(10'001, 1).start, 1e6);
}

TEST(SentenceCache, KeepsTheLatestWithinItsBytes) {
  SentenceCache cache(10'000);
  const FoundSentence found = {.hypotheses = {{Hypothesis{.tokens = std::vector<int32_t>(50)}, {}}}};
  for (int i = 0; i < 100; ++i) {
    cache.add(std::to_string(i), found);
    EXPECT_LE(cache.bytes(), 10'000u);
    EXPECT_NE(cache.find("0"), nullptr);
    EXPECT_NE(cache.find(std::to_string(i)), nullptr);
  }
  EXPECT_EQ(cache.find("1"), nullptr);
  EXPECT_GT(cache.size(), 5u);
  cache.add("too long", {.hypotheses = {{Hypothesis{.tokens = std::vector<int32_t>(5000)}, {}}}});
  EXPECT_EQ(cache.find("too long"), nullptr);
}

}  // namespace
}  // namespace dragoman::internal
