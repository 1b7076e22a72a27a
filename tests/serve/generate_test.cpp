// /v1/generate over a true language model, beside a model that translates.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "search/model_folder.h"
#include "serve/test_server.h"
#include "serve/v1/options.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class GenerateRoute : public testing::Test {
 protected:
  ServeSettings settings() const {
    ServeSettings s = test_settings();
    s.models = {"en-fr=" + translating_.path, "writer=" + writing_.path};
    s.threads = 2;
    s.batch = 4;
    return s;
  }
  GenerateRoute() : server_(settings()) {
    server_.start();
    server_.load();
  }

  json ask(const std::string& path, const json& body, int status = 200) const {
    return answer_of_post(server_.port(), path, body, status);
  }

  const ModelFolder translating_{"generate-route-translating"};
  const ModelFolder writing_{"generate-route-writing",     40, true,
                             {.size = 45, .shared = true}, {}, DecoderSelfAttention::attention,
                             ModelKind::language_model};
  dragoman::Translator writer_{writing_.path, {.threads = 1}};
  TranslationServer server_;
};

TEST_F(GenerateRoute, AnswersAreTheLibrarys) {
  const std::vector<std::string> texts = {"The cat", "A dog", "", "Where is the station?"};
  for (const json& how : {json::object(), json{{"seed", 4}, {"nbest", 2}, {"temperature", 1.5}},
                          json{{"beam", 3}}, json{{"beam", 2}, {"nbest", 2}}}) {
    json body = how;
    body["max-length"] = 8;
    const dragoman::Options options = options_in(body);
    body["text"] = texts;
    const json answers = ask("/v1/generate", body).at("texts");
    ASSERT_EQ(answers.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const dragoman::Translation wanted = writer_.translate(texts[i], options);
      EXPECT_EQ(answers[i]["text"], wanted.text()) << how;
      EXPECT_TRUE(wanted.text().starts_with(texts[i])) << wanted.text();
      EXPECT_EQ(answers[i]["alternatives"].size(), wanted.hypotheses.size() - 1) << how;
      body["text"] = texts[i];
      EXPECT_EQ(ask("/v1/generate", body), answers[i]) << how;
    }
  }
}

TEST_F(GenerateRoute, EachModelDoesWhatItIsFor) {
  EXPECT_EQ(ask("/v1/generate", {{"text", "A dog"}, {"model", "writer"}, {"max-length", 3}}).count("text"),
            1U);
  ask("/v1/generate", {{"text", "A dog"}, {"model", "en-fr"}}, 400);
  ask("/v1/generate", {{"text", "A dog"}, {"shortlist", true}}, 400);
  ask("/v1/generate", {{"text", "A dog"}, {"beam", 2}, {"nbest", 3}}, 400);
  const json translated =
      ask("/v1/translate", {{"text", "A dog"}, {"from", "en"}, {"to", "fr"}, {"max-length", 5}});
  EXPECT_EQ(translated["to"], "fr") << translated;
}

}  // namespace
}  // namespace dragoman::internal
