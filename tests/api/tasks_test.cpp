// Scores and inspections between the steps of translations: each as if it were alone, in turn, and ended when asked to.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/message_of.h"
#include "api/service.h"
#include "dragoman/translator.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

using namespace std::chrono_literals;

class TasksTest : public testing::Test {
 protected:
  static Request request(size_t number) {
    const auto& lines = internal::known_lines();
    return {.text = lines[number % lines.size()] + " " + std::to_string(number),
            .options = {{"beam", static_cast<int64_t>(1 + number % 4)}, {"max-length", 12}},
            .client = 1 + number % 3};
  }

  internal::ModelFolder folder_{"tasks-model"};
  Translator translator_{folder_.path, {.threads = 1, .batch = 4}};
};

// They share the first worker's models with it.
TEST_F(TasksTest, ScoresBesideTranslationsOfSeveralWorkers) {
  const std::vector<TextPair> pairs = {{"The cat sleeps.", "A dog barks at the cat."},
                                       {"It is cold", "home"}};
  const std::vector<Score> wanted = translator_.score(pairs);
  const nlohmann::json inspected = nlohmann::json::parse(translator_.inspect("The cat sleeps."));
  std::vector<std::string> alone;
  for (size_t i = 0; i < 60; ++i) alone.push_back(translator_.submit(request(i)).get().text());
  Translator shared(folder_.path, {.threads = 2, .batch = 2, .workers = 3, .reserves = true});
  std::vector<std::future<Translation>> futures;
  for (size_t i = 0; i < 60; ++i) futures.push_back(shared.submit(request(i)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        const std::vector<Score> scores = shared.score(pairs);
        for (size_t p = 0; p < pairs.size(); ++p)
          EXPECT_EQ(scores[p].log_probabilities, wanted[p].log_probabilities);
      }
      EXPECT_EQ(nlohmann::json::parse(shared.inspect("The cat sleeps.")), inspected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(futures[i].get().text(), alone[i]);
}

TEST_F(TasksTest, ScoresAndInspectionsCanBeEnded) {
  const std::vector<TextPair> pairs(100'000, {"The cat sleeps.", "A dog barks at the cat."});
  EXPECT_EQ(kind_of([&] { translator_.score(pairs, {.timeout = 50ms}); }), ErrorKind::expired);
  std::stop_source stop;
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  EXPECT_EQ(kind_of([&] { translator_.score(pairs, {.stop = stop.get_token()}); }), ErrorKind::cancelled);
  later.join();
  EXPECT_EQ(kind_of([&] { translator_.inspect("The cat", {.stop = stop.get_token()}); }),
            ErrorKind::cancelled);
}

TEST_F(TasksTest, TasksOfClientsTakeTurns) {
  const auto service = internal::Service::start(
      std::make_unique<internal::SavedModel>(folder_.path, internal::chosen_kernels(), 1), {});
  std::promise<void> release;
  std::string order;
  std::vector<std::thread> threads;
  std::atomic<size_t> asking = 0;
  const auto run = [&](uint64_t client, const std::function<void()>& work) {
    threads.emplace_back([&, client, work] {
      ++asking;
      service->run({.client = client, .cost = 100}, {}, work);
    });
    while (asking < threads.size()) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // until it waits for its turn, of which nothing tells
  };
  run(1, [released = release.get_future().share()] { released.wait(); });
  for (int i = 0; i < 3; ++i) run(1, [&] { order += 'a'; });
  run(2, [&] { order += 'b'; });
  release.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, "baaa");
  service->stop();
}

}  // namespace
}  // namespace dragoman
