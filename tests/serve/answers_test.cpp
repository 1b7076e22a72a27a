#include "serve/answers.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "serve/v1/event_stream.h"

namespace dragoman::internal {
namespace {

TEST(Answers, TheServersFailuresAreLoggedAndNotTold) {
  std::string logged;
  set_log_sink([&](LogLevel, const std::string& line) { logged += line + "\n"; });
  set_log_level(LogLevel::warning);
  const std::string cause = "/srv/models/x/config.json: not valid JSON";
  for (const std::exception_ptr& error :
       {std::make_exception_ptr(Error(cause)), std::make_exception_ptr(std::runtime_error(cause))}) {
    logged.clear();
    const HttpResponse answer = error_answer("Dragoman", error, "73a5");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body.find("config.json"), std::string::npos) << answer.body;
    EXPECT_EQ(nlohmann::json::parse(answer.body)["error"]["kind"], "failure");
    EXPECT_EQ(logged, "request 73a5 failed: " + cause + "\n");
  }
  set_log_sink({});
  set_log_level(LogLevel::off);
  const auto usage = error_answer("DeepL", std::make_exception_ptr(UsageError("beam must be at least 1")));
  EXPECT_EQ(usage.body, R"({"message":"beam must be at least 1"})");
}

TEST(Answers, EventsAreSentToThoseWhoPreferThem) {
  EXPECT_TRUE(prefers_events("text/event-stream"));
  EXPECT_TRUE(prefers_events("application/json, text/event-stream"));
  EXPECT_TRUE(prefers_events("application/json;q=0.5,Text/Event-Stream ; q=0.6"));
  EXPECT_TRUE(prefers_events("text/event-stream;q=0.1, */*;q=0.5"));
  EXPECT_FALSE(prefers_events("application/json, text/event-stream;q=0.1"));
  EXPECT_FALSE(prefers_events("application/json;q=0.555, text/event-stream;Q=0.55"));
  EXPECT_FALSE(prefers_events("text/event-stream;q=0"));
  EXPECT_FALSE(prefers_events("text/event-stream;q=0.000"));
  EXPECT_FALSE(prefers_events("application/json, text/event-stream-of-mine"));
  EXPECT_FALSE(prefers_events("*/*"));
  EXPECT_FALSE(prefers_events(",;,q=;"));
  EXPECT_FALSE(prefers_events(""));
}

}  // namespace
}  // namespace dragoman::internal
