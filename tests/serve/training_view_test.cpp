// The histories of runs that train, as the page /training asks for them.
#include "serve/web/training_view.h"

#include <fstream>
#include <future>
#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

struct Promised : Responder::Sink {
  std::promise<HttpResponse> answer;
  void send(HttpResponse response) override { answer.set_value(std::move(response)); }
  void begin(HttpResponse) override {}
  bool write(std::string_view) override { return true; }
  void end() override {}
};

HttpResponse ask(TrainingView& view, const std::string& tag = "") {
  const auto sink = std::make_shared<Promised>();
  view.routes().front().handle(
      {.request = {.method = "GET", .path = "/v1/training", .headers = {{"if-none-match", tag}}},
       .responder = Responder(sink)});
  return sink->answer.get_future().get();
}

std::string tag_of(const HttpResponse& response) { return response.headers.at(0).second; }

class TrainingViews : public testing::Test {
 protected:
  void append(const std::string& run, const std::string& text) const {
    std::filesystem::create_directories(folder_.path(run));
    std::ofstream(folder_.path(run + "/metrics.jsonl"), std::ios::app) << text;
  }

  static std::string line(int step, double loss) {
    return fmt::format(R"({{"event":"train","step":{},"time":{},"perplexity":2.0,"loss":{}}})", step, step,
                       loss) +
           "\n";
  }

  TemporaryFolder folder_;
};

TEST_F(TrainingViews, NewEventsComeAndNothingIsSentTwice) {
  append("a", line(1, 5));
  TrainingView view(folder_.path("."));
  const HttpResponse first = ask(view);
  EXPECT_EQ(nlohmann::json::parse(first.body)["runs"][0]["train"]["step"], (std::vector{1}));
  EXPECT_EQ(ask(view, tag_of(first)).status, 304);

  append("a", line(2, 4));
  append("b", line(1, 6));
  const auto runs = nlohmann::json::parse(ask(view, tag_of(first)).body)["runs"];
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0]["name"], "a");
  EXPECT_EQ(runs[0]["train"]["step"], (std::vector{1, 2}));
  EXPECT_EQ(runs[1]["name"], "b");
}

TEST_F(TrainingViews, AFolderMayBeARunAndMayBeEmptyAtFirst) {
  TrainingView view(folder_.path("."));
  EXPECT_EQ(ask(view).body, R"({"runs":[]})");
  append("", line(1, 5));
  EXPECT_EQ(nlohmann::json::parse(ask(view).body)["runs"][0]["summary"]["steps"], 1);
}

TEST_F(TrainingViews, WhatCannotBeReadAtFirstIsAnAnswer) {
  append("a", line(1, 5));
  std::filesystem::create_directories(folder_.path("a/config.json"));
  TrainingView view(folder_.path("."));
  const HttpResponse first = ask(view, "\"of another answer\"");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, R"({"runs":[]})");
  EXPECT_EQ(ask(view, tag_of(first)).status, 304);
}

TEST_F(TrainingViews, WithoutAFolderTheAnswerSaysWhatToDo) {
  TrainingView view("");
  try {
    ask(view);
    FAIL();
  } catch (const ServeError& error) {
    EXPECT_EQ(error.status(), 404);
    EXPECT_NE(std::string(error.what()).find("--training DIR"), std::string::npos);
  }
}

}  // namespace
}  // namespace dragoman::internal
