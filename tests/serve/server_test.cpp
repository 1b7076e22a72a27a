// What a server refuses, and how: each API's clients get the errors that they know.
#include "serve/server.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/log.h"
#include "serve/api_keys.h"
#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

std::string message_in(const ClientResponse& response) {
  return json::parse(response.body).at("error").at("message");
}

TEST(Server, RefusesWhatItDoesNotHave) {
  const TestServer server;
  const auto nothing = server.get("/v1/nothing");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(json::parse(nothing.body)["error"]["kind"], "not_found");
  EXPECT_TRUE(json::parse(server.get("/v2/nothing").body)["message"].is_string());
  EXPECT_TRUE(json::parse(server.get("/nothing").body)["error"].is_string());
  const auto method = server.get("/v1/translate");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(server.ask("DELETE", "/livez").status, 405);
  EXPECT_EQ(server.ask("HEAD", "/livez").status, 200);
  EXPECT_EQ(server.get("/v1/translate/").status, 404);
}

TEST(Server, RefusesBodiesThatAreNotWhatTheySay) {
  const TestServer server;
  const auto asked = [&](const std::string& body, const std::string& type) {
    return server.ask("POST", "/v1/translate", body, type.empty() ? "" : "Content-Type: " + type + "\r\n");
  };
  EXPECT_EQ(asked("text=x", "application/x-www-form-urlencoded").status, 415);
  EXPECT_EQ(asked(R"({"text":"x"})", "").status, 415);
  EXPECT_EQ(asked(R"({"text":"x"})", "application/json; charset=latin1").status, 415);
  EXPECT_EQ(asked(R"({"text":"x"})", "Application/JSON; charset=UTF-8").status, 200);
  for (const std::string body :
       {"", "{", "[]", "\"x\"", "{\"text\":\"\xff\"}", R"({"text":"x","seed":1e999})"})
    EXPECT_EQ(asked(body, "application/json").status, 400) << body;
  EXPECT_EQ(asked(std::string(200, '[') + std::string(200, ']'), "application/json").status, 400);
}

TEST(Server, NamesTheFieldThatIsWrong) {
  const TestServer server;
  const auto refusal = [&](const json& body) {
    const auto response = server.post("/v1/translate", body);
    EXPECT_EQ(response.status, 400) << body;
    return response.status == 400 ? message_in(response) : "";
  };
  EXPECT_EQ(refusal(json::object()), "the field \"text\" is missing");
  EXPECT_EQ(refusal({{"text", "x"}, {"beem", 4}}), "unknown field \"beem\"; did you mean beam?");
  EXPECT_EQ(refusal({{"text", "x"}, {"beam", 0}}), "beam is 0, but must be at least 1");
  EXPECT_EQ(refusal({{"text", "x"}, {"beam", 21}}), "beam is 21, but must be at most 20");
  EXPECT_EQ(refusal({{"text", 5}}), "text must be a string or a list");
  EXPECT_EQ(refusal({{"text", {"x", 5}}}), "text[1] must be a string");
  EXPECT_EQ(refusal({{"text", "x"}, {"format", "pdf"}}), "format must be one of text, html");
  EXPECT_EQ(refusal({{"text", "x"}, {"to", "yy"}}), "there is no model from en to yy");
  // It names a file of the server.
  EXPECT_NE(
      refusal({{"text", "x"}, {"shortlist", true}, {"always-allow", "/etc/passwd"}}).find("unknown field"),
      std::string::npos);
}

TEST(Server, AnswersATextOrAList) {
  const TestServer server;
  EXPECT_EQ(json::parse(server.post("/v1/translate", {{"text", "one"}}).body)["text"], "ONE");
  const json list = json::parse(server.post("/v1/translate", {{"text", {"one", "two", ""}}}).body);
  ASSERT_EQ(list["translations"].size(), 3U);
  EXPECT_EQ(list["translations"][1]["text"], "TWO");
  EXPECT_EQ(server.post("/v1/translate", {{"text", json::array()}}).body, R"({"translations":[]})");
  server.post("/v1/translate", {{"text", "x"}, {"beam", 3.0}, {"length-penalty", 1}, {"prefix", "A"}});
  const TextWork work = server.translations->last();
  EXPECT_EQ(work.prefix, "A");
  EXPECT_EQ(work.options, (dragoman::Options{{"beam", 3}, {"length-penalty", 1.0}}));
}

TEST(Server, StreamsEvents) {
  const TestServer server;
  const auto response = server.post("/v1/translate", {{"text", "one"}, {"stream", true}, {"details", false}});
  EXPECT_EQ(response.header("content-type"), "text/event-stream");
  EXPECT_EQ(response.body.substr(0, response.body.find("event: result")),
            "event: progress\ndata: {\"index\":0,\"text\":\"ONE\",\"final_bytes\":0}\n\n");
  EXPECT_NE(response.body.find("event: result\ndata: {\"text\":\"ONE\""), std::string::npos) << response.body;
  const auto refused = server.post("/v1/translate", {{"text", "late"}}, "Accept: text/event-stream\r\n");
  EXPECT_EQ(refused.status, 504);
  const auto broken = server.post("/v1/translate", {{"text", {"one", "late"}}, {"stream", true}});
  EXPECT_NE(broken.body.find("event: error\ndata: {\"error\":{\"message\":\"the deadline has passed\""),
            std::string::npos)
      << broken.body;
}

TEST(Server, FailuresHaveTheirStatus) {
  const TestServer server;
  EXPECT_EQ(server.post("/v1/translate", {{"text", "late"}}).status, 504);
  const auto full = server.post("/v1/translate", {{"text", "full"}});
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.header("retry-after"), "7");
}

TEST(Server, IsNotReadyWhileAsMuchWaitsAsMay) {
  TestServer server;
  server.translations->full = true;
  EXPECT_EQ(server.get("/readyz").status, 503);
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.get("/v1/models").status, 200);

  HttpClient client(server.server.port());  // which learns it before it sends its text
  client.send(
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "1000\r\n\r\n");
  const auto refusal = client.read();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 503);
  EXPECT_EQ(refusal->header("retry-after"), "7");
  EXPECT_EQ(refusal->body, R"({"error":"too many texts wait"})");
  EXPECT_EQ(server.post("/detect", {{"q", "one"}}).status, 200) << "which waits for no model";

  server.translations->full = false;
  EXPECT_EQ(server.get("/readyz").status, 200);
}

TEST(Server, TakesNothingBeforeItsModelsAreLoaded) {
  TestServer server(test_settings(), false);
  EXPECT_EQ(server.get("/livez").status, 200);
  EXPECT_EQ(server.get("/readyz").status, 503);
  EXPECT_EQ(server.get("/health").status, 503);
  const auto early = server.post("/v1/translate", {{"text", "x"}});
  EXPECT_EQ(early.status, 503);
  EXPECT_NE(early.header("retry-after"), "");
  server.load();
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_EQ(server.post("/v1/translate", {{"text", "x"}}).status, 200);
}

TEST(Server, EndsWhatItAcceptedBeforeItStops) {
  TestServer server;
  HttpClient client(server.server.port());
  client.request("POST", "/v1/translate", R"({"text":"hold"})", "Content-Type: application/json\r\n");
  ASSERT_TRUE(eventually([&] { return server.translations->held() == 1; }));
  std::atomic<bool> stopped = false;
  bool all_answered = false;
  std::thread stopping([&] {
    all_answered = server.server.stop();
    stopped = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(stopped);
  server.translations->release();
  stopping.join();
  EXPECT_TRUE(all_answered);
  EXPECT_EQ(json::parse(client.read()->body)["text"], "HOLD");
}

TEST(Server, AClientThatGoesAwayStopsItsTranslation) {
  const TestServer server;
  HttpClient client(server.server.port());
  client.request("POST", "/v1/translate", R"({"text":"hold"})", "Content-Type: application/json\r\n");
  ASSERT_TRUE(eventually([&] { return server.translations->held() == 1; }));
  const std::stop_token stop = server.translations->stop_of_held();
  EXPECT_FALSE(stop.stop_requested());
  client.reset();
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  server.translations->release();
}

TEST(Server, LimitsWhatAClientMayAsk) {
  ServeSettings settings = test_settings();
  settings.limits = {.body = 2000,
                     .characters = 100,
                     .texts = 3,
                     .output = 10,
                     .requests_per_client = 1,
                     .characters_per_minute = 150};
  const TestServer server(settings);
  EXPECT_EQ(server.post("/v1/translate", {{"text", std::string(101, 'x')}}).status, 413);
  EXPECT_EQ(server.post("/v1/translate", {{"text", {"a", "b", "c", "d"}}}).status, 413);
  EXPECT_EQ(server.post("/v1/translate", {{"text", std::string(3000, 'x')}}).status, 413);
  const std::string half(51, 'x'), prefix(40, 'x');
  EXPECT_EQ(server.post("/v1/translate", {{"text", {"a", "b", "c"}}, {"prefix", prefix}}).status, 413);
  const json glossary = json::array({{{"source", half}, {"target", half}}});
  EXPECT_EQ(server.post("/v1/translate", {{"text", "a"}, {"glossary", glossary}}).status, 413);
  EXPECT_EQ(server.post("/v1/translate", {{"text", "a"}, {"prefix", prefix + "x"}}).status, 400);
  EXPECT_EQ(server.post("/v1/translate", {{"text", "a\nb\nc\nd\ne\nf"}, {"nbest", 20}}).status, 413);

  HttpClient client(server.server.port());
  client.request("POST", "/v1/translate", R"({"text":"hold"})", "Content-Type: application/json\r\n");
  ASSERT_TRUE(eventually([&] { return server.translations->held() == 1; }));
  const auto second = server.post("/v1/translate", {{"text", "x"}});
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.header("retry-after"), "1");
  HttpClient third_client(server.server.port());  // which learns it before it sends its text
  third_client.send(
      "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 1000\r\n\r\n");
  const auto early = third_client.read();
  EXPECT_EQ(early ? early->status : 0, 429);
  EXPECT_EQ(server.get("/livez").status, 200);
  server.translations->release();
  ASSERT_TRUE(client.read());

  EXPECT_EQ(server.post("/v1/translate", {{"text", std::string(100, 'x')}}).status, 200);
  const auto third = server.post("/v1/translate", {{"text", std::string(100, 'x')}});
  EXPECT_EQ(third.status, 429);
  const int seconds = std::stoi(third.header("retry-after"));
  EXPECT_GE(seconds, 15);  // 54 characters too many, of 2.5 a second
  EXPECT_LE(seconds, 22);
}

TEST(Server, CountsAnIPv6NetworkAsOneClient) {
  ServeSettings settings = test_settings();
  settings.limits.requests_per_client = 1;
  settings.proxies = {"127.0.0.1"};
  const TestServer server(settings);
  HttpClient client(server.server.port());
  client.request("POST", "/v1/translate", R"({"text":"hold"})",
                 "X-Forwarded-For: 2001:db8::1\r\nContent-Type: application/json\r\n");
  ASSERT_TRUE(eventually([&] { return server.translations->held() == 1; }));
  const auto status = [&](const std::string& address) {
    return server.post("/v1/translate", {{"text", "x"}}, "X-Forwarded-For: " + address + "\r\n").status;
  };
  EXPECT_EQ(status("2001:db8:0:0:2:3:4:5"), 429);
  EXPECT_EQ(status("2001:db8:0:1::1"), 200);
  server.translations->release();
}

TEST(Server, RefusedBodiesHaveTheirApisErrors) {
  ServeSettings settings = test_settings();
  settings.limits.body = 1024;
  settings.cors = {"*"};
  const TestServer server(settings);
  const auto refusal = [&](const std::string& path) {
    const auto response =
        server.post(path, {{"text", std::string(2000, 'x')}}, "Origin: https://one.example\r\n");
    EXPECT_EQ(response.status, 413) << path;
    EXPECT_EQ(response.header("access-control-allow-origin"), "*") << path;
    return json::parse(response.body);
  };
  const std::string sentence = "the request's body has 2011 bytes; the limit is 1024";
  EXPECT_EQ(refusal("/v2/translate"), json({{"message", sentence}}));
  EXPECT_EQ(refusal("/v1/translate"), json({{"error", {{"message", sentence}, {"kind", "too_large"}}}}));
  EXPECT_EQ(refusal("/translate"), json({{"error", sentence}}));
  const std::string chunked =
      "POST /v2/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  HttpClient client(server.server.port());
  client.send(chunked + "401\r\n");
  EXPECT_EQ(client.read()->body, R"({"message":"the request's body is too large"})");
  HttpClient unreadable(server.server.port());
  unreadable.send("GET /\r\n\r\n");
  EXPECT_EQ(unreadable.read()->status, 400);
  const std::string page = server.get("/metrics").body;
  for (const char* line : {"dragoman_http_requests_total{route=\"/v2/translate\",status=\"413\"} 2\n",
                           "dragoman_http_requests_total{route=\"/translate\",status=\"413\"} 1\n",
                           "dragoman_bad_requests_total{status=\"400\"} 1\n",
                           "dragoman_bad_requests_total{status=\"413\"} 1\n", "dragoman_buffered_bytes 0\n"})
    EXPECT_NE(page.find(line), std::string::npos) << line << page;
}

TEST(Server, ADeadlineIsTheClients) {
  ServeSettings settings = test_settings();
  settings.limits.timeout = 100;
  const TestServer server(settings);
  const auto seconds = [&](const std::string& header) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(server.post("/v1/translate", {{"text", "x"}}, header).status, 200) << header;
    return std::chrono::duration<double>(server.translations->last().deadline - before).count();
  };
  EXPECT_NEAR(seconds(""), 100, 5);
  EXPECT_NEAR(seconds("X-Timeout-Ms: 20000\r\n"), 20, 5);
  EXPECT_NEAR(seconds("Prefer: respond-async, wait=30\r\n"), 30, 5);
  EXPECT_NEAR(seconds("Prefer: wait=soon\r\n"), 100, 5);
  EXPECT_NEAR(seconds("X-Timeout-Ms: 9223372036854775807\r\n"), 100, 5);
  EXPECT_EQ(server.post("/v1/translate", {{"text", "x"}}, "X-Timeout-Ms: soon\r\n").status, 400);
}

TEST(Server, AsksForAKey) {
  const NewKey one = new_api_key("alice"), other = new_api_key("bob");
  ServeSettings settings = test_settings();
  settings.api_keys = testing::TempDir() + "server-keys";
  write_file(settings.api_keys, {"# keys\n" + one.line + "\n"});
  TestServer server(settings);
  const auto status = [&](const std::string& header) {
    return server.post("/v1/translate", {{"text", "x"}}, header).status;
  };
  EXPECT_EQ(status(""), 401);
  EXPECT_EQ(status("Authorization: Bearer " + other.key + "\r\n"), 401);
  EXPECT_EQ(status("Authorization: Bearer " + one.key + "\r\n"), 200);
  EXPECT_EQ(status("Authorization: DeepL-Auth-Key " + one.key + "\r\n"), 200);
  EXPECT_EQ(status("Authorization: bearer " + one.key + "\r\n"), 200);
  EXPECT_EQ(status("Authorization: deepl-auth-key  " + one.key + "\r\n"), 200);
  EXPECT_EQ(status("Authorization: Basic " + one.key + "\r\n"), 401);
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_EQ(server.get("/v1/models").status, 401);

  write_file(settings.api_keys, {other.line + "\n"});
  server.server.reload();
  EXPECT_EQ(status("Authorization: Bearer " + one.key + "\r\n"), 401);
  EXPECT_EQ(status("Authorization: Bearer " + other.key + "\r\n"), 200);
  write_file(settings.api_keys, {"damaged\n"});
  server.server.reload();
  EXPECT_EQ(status("Authorization: Bearer " + other.key + "\r\n"), 200);
}

TEST(Server, OtherOriginsMayUseItWhereTheyAreAllowed) {
  ServeSettings settings = test_settings();
  settings.cors = {"https://one.example"};
  const TestServer server(settings);
  const auto ask = [&](const std::string& origin) {
    return server.ask("OPTIONS", "/v1/translate", {},
                      "Origin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n");
  };
  const auto allowed = ask("https://one.example");
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.header("access-control-allow-origin"), "https://one.example");
  EXPECT_NE(allowed.header("access-control-allow-methods").find("POST"), std::string::npos);
  EXPECT_EQ(ask("https://two.example").header("access-control-allow-origin"), "");
  const auto refused = server.ask("POST", "/v1/translate", "{",
                                  "Origin: https://one.example\r\nContent-Type: application/json\r\n");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.header("access-control-allow-origin"), "https://one.example");
  for (const char* name : {"ETag", "Retry-After", "X-Ignored", "X-Request-Id"})
    EXPECT_NE(refused.header("access-control-expose-headers").find(name), std::string::npos) << name;
  EXPECT_EQ(TestServer()
                .ask("OPTIONS", "/v1/translate", {}, "Origin: https://one.example\r\n")
                .header("access-control-allow-origin"),
            "");
}

// Where a path is a text, or all that is needed to fetch a file: whatever the method.
TEST(Server, LogsNoTextAndNoSecretOfAPath) {
  ServeSettings settings = test_settings();
  settings.log = RequestLogFormat::text;
  const TestServer server(settings);
  set_log_level(LogLevel::info);
  std::string logged;
  std::mutex mutex;
  set_log_sink([&](LogLevel, const std::string& line) {
    const std::lock_guard lock(mutex);
    logged += line + "\n";
  });
  for (const char* method : {"GET", "OPTIONS", "DELETE"})
    server.ask(method, "/download_file/a-private-text.txt");
  set_log_sink({});
  set_log_level(LogLevel::off);
  const std::lock_guard lock(mutex);
  EXPECT_NE(logged.find("OPTIONS \"/download_file/<name*>\""), std::string::npos) << logged;
  EXPECT_NE(logged.find("DELETE \"/download_file/<name*>\""), std::string::npos) << logged;
  EXPECT_EQ(logged.find("private"), std::string::npos) << logged;
}

TEST(Server, CountsWithBoundedLabels) {
  const TestServer server;
  server.post("/v1/translate", {{"text", "x"}});
  for (int i = 0; i < 5; ++i) server.get("/v1/nothing" + std::to_string(i));
  const auto page = server.get("/metrics");
  EXPECT_NE(page.body.find("dragoman_http_requests_total{route=\"/v1/translate\",status=\"200\"} 1\n"),
            std::string::npos)
      << page.body;
  EXPECT_NE(page.body.find("dragoman_http_requests_total{route=\"none\",status=\"404\"} 5\n"),
            std::string::npos);
  EXPECT_NE(page.body.find("dragoman_texts_total{pair=\"en-xx\"} 1\n"), std::string::npos);
  EXPECT_EQ(page.body.find("nothing3"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
