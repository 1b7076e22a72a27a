// What the scheduler promises (search/queue/scheduler.h), one by one, and that nothing of it changes a translation.
#include "search/queue/scheduler.h"

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "search/text_requests.h"

namespace dragoman::internal {
namespace {

class SchedulerTest : public TranslatorTest {
 protected:
  Results each_alone(const std::vector<TranslationRequest>& all) {
    Results alone;
    for (size_t i = 0; i < all.size(); ++i) {
      SteppedTranslator translator(model_, {.sentences = 1});
      translator.add(i, all[i]);
      alone.merge(run_all(translator));
    }
    return alone;
  }
};

// Promise 4. Each three times at once, and once more when they are done; one of three is cancelled on the way.
TEST_F(SchedulerTest, EqualRequestsGetWhatTheyGetAlone) {
  const auto all = requests(40, 7);
  const Results alone = each_alone(all);
  for (const size_t cache_bytes : {0, 20'000, 10'000'000}) {
    for (const int searches : {1, 3}) {
      SteppedTranslator translator(model_,
                                   {.sentences = 7, .searches = searches, .cache_bytes = cache_bytes});
      for (size_t i = 0; i < 3 * all.size(); ++i) translator.add(i, all[i / 3]);
      Results results;
      for (size_t step = 0; translator.busy(); ++step) {
        if (step < all.size()) translator.cancel(3 * step + step % 3);
        for (TranslationResult& result : translator.step()) results.emplace(result.id, std::move(result));
        EXPECT_LE(translator.counts().cache_bytes, cache_bytes);
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
TEST_F(SchedulerTest, OptionsAreKeptApart) {
  std::vector<SearchOptions> options(11, {.beam = 3, .max_length = 20});
  options[1].nbest = 3;
  options[2].coverage_penalty = 0.7;
  options[3].coverage_penalty = 0.7, options[3].nbest = 2;
  options[4].length_penalty = 2;
  options[5].no_repeat_ngram = 1;
  options[6].sample = true;
  options[7].sample = true, options[7].seed = 2;
  options[8].alignment = true;
  options[9] = {.max_length = 60, .sample = true, .temperature = 100};  // has unknown tokens
  options[10] = options[9], options[10].replace_unknown = true;
  SteppedTranslator translator(model_, {.cache_bytes = 1 << 20});
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < options.size(); ++i) translator.add(i, {.text = texts[5], .options = options[i]});
    Results results = run_all(translator);
    for (size_t i = 0; i < options.size(); ++i) {
      SCOPED_TRACE(i);
      SteppedTranslator alone(model_, {.sentences = 1});
      alone.add(i, {.text = texts[5], .options = options[i]});
      expect_same(results.at(i), run_all(alone).at(i));
    }
  }
}

TEST_F(SchedulerTest, OneThatExpiresLeavesTheOthers) {
  SteppedTranslator translator(model_, {.sentences = 2});
  const TranslationRequest request = {.text = texts[0], .options = {.max_length = 15}};
  translator.add(0, request, {.deadline = std::chrono::steady_clock::now()});
  translator.add(1, request);
  const Results results = run_all(translator);
  EXPECT_EQ(results.at(0).status, SearchStatus::expired);
  EXPECT_EQ(results.at(1).status, SearchStatus::finished);
}

// Promise 3. So that a client who goes away costs no more than a step.
TEST_F(SchedulerTest, WhoIsCancelledFreesItsRowsWithTheNextStep) {
  const SearchOptions endless = {.max_length = 100'000, .max_length_ratio = 0, .min_length = 100'000};
  for (const int searches : {1, 3}) {
    SteppedTranslator translator(model_, {.sentences = 2, .searches = searches});
    translator.add(0, {.text = texts[0], .options = endless});
    translator.add(1, {.text = texts[6], .options = endless});
    while (translator.steps() < 5 || translator.sentences_under_way() < 2)
      EXPECT_TRUE(translator.step().empty());
    translator.cancel(0);
    const uint64_t before = translator.steps();
    while (translator.sentences_under_way() == 2) translator.step();
    EXPECT_LE(translator.steps_at_end(0), before + 1);
    translator.cancel(1);
    run_all(translator);
  }
}

// Promise 1. A long text has all rows; one that comes later has the next that is free.
TEST_F(SchedulerTest, ALongTextTakesTurns) {
  std::string text;
  for (const char first : std::string("abcdefghijklmnop")) text += std::string(1, first) + " cat sleeps. ";
  SteppedTranslator translator(model_, {.sentences = 2});
  const SearchOptions options = {.split_sentences = "en", .beam = 1, .max_length = 10};
  translator.add(0, {.text = text, .options = options}, {.client = 1, .cost = 1000});
  translator.step();
  translator.add(1, {.text = texts[0], .options = options}, {.client = 1, .cost = 10});
  translator.add(2, {.text = texts[0], .options = options}, {.client = 2, .cost = 10});
  std::vector<uint64_t> order;
  while (translator.busy())
    for (const TranslationResult& result : translator.step()) order.push_back(result.id);
  EXPECT_EQ(order, (std::vector<uint64_t>{2, 0, 1})) << "the first client's next one comes after its first";
}

// Promise 2. Each client that has none begins with the next step.
TEST_F(SchedulerTest, OneClientCannotHaveAllRows) {
  const SearchOptions endless = {.max_length = 100'000, .max_length_ratio = 0, .min_length = 100'000};
  const auto line = [](char first) { return std::string(1, first) + " cat sleeps."; };
  for (const int searches : {1, 3}) {
    SteppedTranslator translator(model_, {.sentences = 6, .searches = searches, .reserved = 2});
    std::string text;
    for (char first = 'a'; first <= 'z'; ++first) text += line(first) + " ";
    SearchOptions by_sentence = endless;
    by_sentence.split_sentences = "en";
    translator.add(0, {.text = text, .options = by_sentence}, {.client = 1, .cost = 1000});
    const int64_t most = 4 * searches;
    while (translator.sentences_under_way() < most) translator.step();
    for (uint64_t client = 2; client < 2 + 2 * static_cast<uint64_t>(searches); ++client) {
      const TranslationRequest one = {.text = line(static_cast<char>('A' + client)),
                                      .options = {.beam = 1, .max_length = 3, .max_length_ratio = 0}};
      translator.add(client, one, {.client = client, .cost = 1});
      const uint64_t before = translator.steps();
      std::vector<TranslationResult> results;
      while (results.empty()) results = translator.step();
      EXPECT_EQ(results.front().id, client);
      if (searches == 1) {
        EXPECT_LE(translator.steps(), before + 4);
      }
      EXPECT_LE(translator.sentences_under_way(), most);
    }
    translator.cancel(0);
    run_all(translator);
  }
}

// Whoever asks, and whatever is reserved: translations stay as they are.
TEST_F(SchedulerTest, ReservedRowsChangeNoTranslation) {
  const auto all = requests(60, 11);
  const Results alone = each_alone(all);
  for (const int64_t reserved : {0, 1, 3}) {
    for (const int searches : {1, 3}) {
      RandomRequests random(static_cast<uint64_t>(reserved) + 1, 40);
      SteppedTranslator translator(model_, {.sentences = 4, .searches = searches, .reserved = reserved});
      Results results;
      for (size_t i = 0; i < all.size() || translator.busy();) {
        for (; i < all.size() && !random.one_in(3); ++i) {
          translator.add(i, all[i], {.client = random.one_in(2) ? 1 : 2 + i % 5});
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
TEST_F(SchedulerTest, KnownSentencesBeginABatchAtATime) {
  SteppedTranslator translator(model_, {.sentences = 4, .cache_bytes = 1 << 20});
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
TEST_F(SchedulerTest, ManyEqualOnesAreCancelled) {
  SteppedTranslator translator(model_, {.sentences = 2});
  constexpr uint64_t count = 100'000;
  for (uint64_t id = 0; id < count; ++id)
    translator.add(id, {.text = texts[0], .options = {.max_length = 20}});
  for (uint64_t id = 0; id < count; ++id) translator.cancel(id);
  EXPECT_EQ(run_all(translator).size(), count);
}

// Promise 5. What ends a job may add another, cancel one, and is not called beside another's.
TEST_F(SchedulerTest, JobsEndOneByOneAndMayAddOthers) {
  for (const int searches : {1, 3}) {
    Translator translator(model_, {.sentences = 3, .searches = searches});
    std::atomic<int> inside = 0, ended = 0, together = 0;
    std::promise<void> all;
    const int64_t length = 12;
    std::function<void(int)> add = [&](int left) {
      translator.add({.text = "A cat sleeps " + std::to_string(left),
                      .options = {.max_length = length},
                      .on_progress = [&](const PartialText&) { together += inside != 0; },
                      .on_end =
                          [&, left](const JobEnd&, const TranslatedLine&) {
                            together += ++inside > 1;
                            if (left > 0) add(left - 1);
                            translator.scheduler.cancel(static_cast<uint64_t>(left));
                            --inside;
                            if (++ended == 40) all.set_value();
                          }});
    };
    for (int chain = 0; chain < 4; ++chain) add(9);
    translator.searches.start();
    all.get_future().get();
    EXPECT_EQ(together, 0);
    EXPECT_EQ(ended, 40);
  }
}

// Also where they add others while all end: with those that wait behind them nobody is left to begin them.
TEST_F(SchedulerTest, WhatTheEndsOfJobsAddEndsWithThem) {
  int ended = 0;
  std::function<void(int)> add;
  {
    Translator translator(model_, {.sentences = 3});
    add = [&](int left) {
      translator.add({.text = "A cat sleeps " + std::to_string(left),
                      .on_end = [&, left](const JobEnd& end, const TranslatedLine&) {
                        EXPECT_EQ(end.status, SearchStatus::cancelled);
                        ++ended;
                        if (left > 0) add(left - 1);
                      }});
    };
    add(5);
    translator.scheduler.end_all();
  }
  EXPECT_EQ(ended, 6);
}

// Promise 5, where a job cannot even say whether it has news: it ends, and others go on.
TEST_F(SchedulerTest, AJobThatFailsWhileItIsAskedForNewsEnds) {
  class Failing : public RequestJob {
   public:
    using RequestJob::RequestJob;
    bool has_news() override { throw Error("no memory"); }
  };
  Translator translator(model_, {.sentences = 2});
  std::promise<JobEnd> failed, other;
  const auto end_into = [](std::promise<JobEnd>& promise) {
    return [&promise](const JobEnd& end, const FoundSentence&) { promise.set_value(end); };
  };
  const SearchRequest request = {.source = model_.encode_source("A cat sleeps."), .progress = true};
  translator.scheduler.add(std::make_unique<Failing>(request, end_into(failed)), {});
  translator.scheduler.add(std::make_unique<RequestJob>(request, end_into(other)), {});
  translator.searches.start();
  EXPECT_EQ(failed.get_future().get().status, SearchStatus::failed);
  EXPECT_EQ(other.get_future().get().status, SearchStatus::finished);
}

// Promise 6. One sentence after the other never starts a second search.
TEST_F(SchedulerTest, ASearchBeginsWhenThoseBeforeItAreFull) {
  for (const size_t at_once : {1, 8}) {
    SavedModel model(folder_.path, kernels_for(nullptr), 2);
    SteppedTranslator translator(model, {.sentences = 2, .searches = 4});
    for (size_t i = 0; i < 24; i += at_once) {
      for (size_t n = 0; n < at_once; ++n)
        translator.add(i + n, {.text = "Dog " + std::to_string(i + n), .options = {.max_length = 30}});
      int64_t most = 0;
      while (translator.busy()) {
        most = std::max(most, translator.sentences_under_way());
        translator.step();
      }
      if (at_once == 1) {
        EXPECT_LE(most, 1);
      }
    }
  }
}

// Promise 7. Of one text that goes on for ever: tasks run beside it, and leave it half of the time.
TEST_F(SchedulerTest, TasksLeaveHalfOfTheTimeToSentences) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  const SearchOptions endless = {.max_length = 100'000, .max_length_ratio = 0, .min_length = 100'000};
  SteppedTranslator translator(model_, {.sentences = 2, .searches = 2});
  translator.add(0, {.text = texts[0], .options = endless});
  while (translator.steps() == 0) translator.step();
  struct Task {
    Clock::time_point begin, end;
    uint64_t steps;
  };
  std::vector<Task> tasks;
  for (int i = 0; i < 5; ++i)
    translator.run(
        [&] {
          const auto begin = Clock::now();
          std::this_thread::sleep_for(20ms);
          tasks.push_back({begin, Clock::now(), translator.steps()});
        },
        {.client = 2});
  ASSERT_EQ(tasks.size(), 5u);
  for (size_t i = 1; i < tasks.size(); ++i) {
    EXPECT_GT(tasks[i].steps, tasks[i - 1].steps) << "it went on in between";
    EXPECT_TRUE(tasks[i].begin - tasks[i - 1].end >= 20ms) << "for as long as a task";
  }
  EXPECT_EQ(translator.run([] {}, {.deadline = Clock::now()}), SearchStatus::expired);
  translator.cancel(0);
  EXPECT_EQ(run_all(translator).at(0).status, SearchStatus::cancelled);
}

}  // namespace
}  // namespace dragoman::internal
