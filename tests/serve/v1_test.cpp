// /v1 over a true model: whatever is asked at the same time, an answer is the library's for the same text and options.
#include <algorithm>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "search/model_folder.h"
#include "serve/test_server.h"
#include "serve/v1/options.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

struct Asked {
  std::vector<std::string> texts;
  json options;  // of the body
};

Asked random_request(uint64_t number) {
  Random random(number);
  Asked asked = {.texts = {},
                 .options = {{"max-length", 12},
                             {"split-sentences", "none"},
                             {"replace-unknown", false},
                             {"keep-source", random.below(4) == 0}}};
  for (uint64_t i = 0, count = 1 + random.below(4); i < count; ++i)
    asked.texts.push_back(known_lines()[random.below(known_lines().size())]);
  switch (random.below(5)) {
    case 0:
      asked.options["beam"] = 1;
      break;
    case 1:
      asked.options.update({{"beam", 4}, {"nbest", 3}, {"length-penalty", 1.0}});
      break;
    case 2:
      asked.options.update({{"sample", true}, {"nbest", 2}, {"seed", number}});
      break;
    case 3:
      asked.options.update({{"beam", 2}, {"min-length", 5}, {"no-repeat-ngram", 2}, {"alignment", true}});
      break;
    default:
      asked.options.update({{"beam", 3}});
  }
  return asked;
}

class V1Test : public testing::Test {
 protected:
  static ServeSettings settings(const std::string& folder) {
    ServeSettings s = test_settings();
    s.models = {"en-fr=" + folder};
    s.threads = 2;
    s.batch = 4;
    return s;
  }
  V1Test() : server_(settings(folder_.path)) {
    server_.start();
    server_.load();
  }

  json ask(const std::string& path, const json& body, int status = 200) const {
    return answer_of_post(server_.port(), path, body, status);
  }

  void expect_same(const json& answer, const Asked& asked) {
    const json& got = answer["translations"];
    ASSERT_EQ(got.size(), asked.texts.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const dragoman::Translation wanted = translator_.translate(asked.texts[i], options_in(asked.options));
      EXPECT_EQ(got[i]["text"], wanted.text());
      ASSERT_EQ(got[i]["lines"].size(), 1U);
      const json& line = got[i]["lines"][0];
      EXPECT_NEAR(line["score"].get<double>(), wanted.hypotheses[0].score, 1e-6);
      ASSERT_EQ(line["tokens"].size(), wanted.hypotheses[0].tokens.size());
      for (size_t t = 0; t < line["tokens"].size(); ++t) {
        EXPECT_NEAR(line["tokens"][t]["log_probability"].get<double>(),
                    wanted.hypotheses[0].tokens[t].log_probability, 1e-6);
      }
      if (!asked.options.contains("nbest")) continue;
      ASSERT_EQ(line["nbest"].size(), wanted.hypotheses.size());
      for (size_t n = 0; n < wanted.hypotheses.size(); ++n)
        EXPECT_EQ(line["nbest"][n]["text"], wanted.hypotheses[n].text);
    }
  }

  ModelFolder folder_{"v1-model"};
  dragoman::Translator translator_{folder_.path, {.threads = 1}};
  TranslationServer server_;
};

TEST_F(V1Test, ConcurrentRequestsHaveTheBytesThatTheyHaveAlone) {
  constexpr uint64_t count = 200, threads = 16;
  std::vector<json> answers(count);
  std::vector<std::thread> clients;
  for (uint64_t t = 0; t < threads; ++t) {
    clients.emplace_back([&, t] {
      for (uint64_t i = t; i < count; i += threads) {
        const Asked asked = random_request(i);
        json body = asked.options;
        body["text"] = asked.texts;
        answers[i] = ask("/v1/translate", body);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (uint64_t i = 0; i < count; ++i) expect_same(answers[i], random_request(i));
}

// Of this model, which has learned nothing.
TEST_F(V1Test, AFewWordsComeBackUnlessTheyAreWantedAtAnyRate) {
  const json body = {{"text", "42"}, {"max-length", 12}};
  const json kept = ask("/v1/translate", body);
  EXPECT_EQ(kept["text"], "42");
  EXPECT_EQ(std::ranges::count(kept["flags"], "unlikely"), 1) << kept;
  EXPECT_LT(kept["confidence"], 0.5);
  json at_any_rate = body;
  at_any_rate["keep-source"] = false;
  const json translated = ask("/v1/translate", at_any_rate);
  EXPECT_NE(translated["text"], "42");
  EXPECT_EQ(kept["confidence"], translated["confidence"]);
}

TEST_F(V1Test, AStreamEndsWithTheAnswer) {
  for (uint64_t i = 0; i < 20; ++i) {
    const Asked asked = random_request(i);
    json body = asked.options;
    body["text"] = asked.texts;
    const json answer = ask("/v1/translate", body);
    body["stream"] = true;
    HttpClient client(server_.port(), std::chrono::seconds(60));
    client.request("POST", "/v1/translate", body.dump(), "Content-Type: application/json\r\n");
    const auto response = client.read();
    ASSERT_TRUE(response);
    const size_t at = response->body.find("event: result\ndata: ");
    ASSERT_NE(at, std::string::npos) << response->body;
    EXPECT_EQ(json::parse(response->body.substr(at + 20)), answer);
  }
}

TEST_F(V1Test, Scores) {
  const std::vector<dragoman::TextPair> pairs = {{"The cat sleeps.", "A dog barks at the cat."},
                                                 {"It is cold", ""}};
  const auto wanted = translator_.score(pairs);
  json body = {{"from", "en"}, {"to", "fr"}, {"pairs", json::array()}};
  for (const dragoman::TextPair& pair : pairs)
    body["pairs"].push_back({{"source", pair.source}, {"target", pair.target}});
  const json answer = ask("/v1/score", body);
  ASSERT_EQ(answer["scores"].size(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(answer["scores"][i]["score"].get<double>(), wanted[i].total);
    EXPECT_EQ(answer["scores"][i]["log_probabilities"].get<std::vector<float>>(),
              wanted[i].log_probabilities);
  }
  EXPECT_EQ(ask("/v1/score", {{"pairs", body["pairs"]}}), answer);  // of the only model
  ask("/v1/score", {{"pairs", json::array()}, {"to", "de"}}, 400);
}

// Scores end between two batches, not with the last.
TEST_F(V1Test, ScoresEndWithTheirDeadline) {
  json body = {{"from", "en"}, {"to", "fr"}, {"pairs", json::array()}};
  for (int i = 0; i < 1000; ++i)
    body["pairs"].push_back(
        {{"source", "A dog barks at the cat."}, {"target", "Where is the station? " + std::to_string(i)}});
  HttpClient client(server_.port(), std::chrono::seconds(60));
  client.request("POST", "/v1/score", body.dump(), "Content-Type: application/json\r\nX-Timeout-Ms: 20\r\n");
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 504) << response->body.substr(0, 200);
}

bool is_allowed(dragoman::Translator& translator, const OptionInfo& option, double value) {
  dragoman::Options options = {{"max-length", 1}};
  if (option.type == "integer") {
    options.emplace_back(option.name, static_cast<int64_t>(value));
  } else {
    options.emplace_back(option.name, value);
  }
  try {
    translator.submit({.text = "x", .options = options});
  } catch (const dragoman::Error& error) {
    return std::string(error.what()).find("must be") == std::string::npos;
  }
  return true;
}

// The schemas are made from what is said about options for people: they must allow what the library does.
TEST(V1Options, SchemasHaveTheLibrarysLimits) {
  const ModelFolder folder("v1-options");
  dragoman::Translator translator(folder.path, {.threads = 1});
  for (const OptionInfo& option : dragoman::Translator::options()) {
    const nlohmann::ordered_json schema = option_schema(option);
    const auto allowed = [&](double value) { return is_allowed(translator, option, value); };
    if (option.name == "max-length") continue;
    const double step = option.type == "integer" ? 1 : 1e-9;
    if (schema.contains("minimum")) {
      EXPECT_TRUE(allowed(schema["minimum"])) << option.name;
      EXPECT_FALSE(allowed(schema["minimum"].get<double>() - step)) << option.name;
    }
    if (schema.contains("exclusiveMinimum")) {
      EXPECT_FALSE(allowed(schema["exclusiveMinimum"])) << option.name;
    }
    if (schema.contains("maximum") && schema["maximum"] < 1e9) {
      EXPECT_FALSE(allowed(schema["maximum"].get<double>() + step)) << option.name;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
