// dragoman explain as its users see it.
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/translating_commands.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class ExplainCommands : public TranslatingCommands {
 protected:
  std::string explain(const std::string& options = "", const std::string& folder = "") {
    return run(
        "explain " + options + " --model " + (folder.empty() ? folder_.path : folder) +
        (options.find("--target") == options.npos ? " --source 'A dog.' --target 'The cat sleeps.'" : ""));
  }
};

TEST_F(ExplainCommands, TextAndJsonHaveTheSameNumbers) {
  const json data = parse_json(explain("--format json"));
  EXPECT_EQ(data.at("source"), "A dog.");
  EXPECT_EQ(data.at("target"), "The cat sleeps.");
  const std::string text = explain("--columns 0");
  for (const auto& [name, sections] : data.at("steps").items()) {
    EXPECT_NE(text.find("── " + name + " ─"), text.npos) << name;
    for (const auto& [key, section] : sections.items())
      EXPECT_NE(text.find(section.at("title").get<std::string>()), text.npos) << name << " " << key;
  }
  const json& loss = data.at("steps").at("loss").at("sentence").at("totals").at("values");
  EXPECT_NE(text.find(fmt::format("{:.6f}", loss[0][1].get<double>())), text.npos);
}

TEST_F(ExplainCommands, TheLossIsThatOfScore) {
  const json data = parse_json(explain("--format json --step loss"));
  EXPECT_EQ(data.at("steps").size(), 1U);
  const std::string score = run("score --model " + folder_.path + " --source " + write("s", "A dog.\n") +
                                " --target " + write("t", "The cat sleeps.\n"));
  EXPECT_NEAR(data.at("steps").at("loss").at("sentence").at("totals").at("values")[0][0].get<double>(),
              -std::stod(score), 1e-4);
}

// The decoder reads the target one place behind what it should predict.
TEST_F(ExplainCommands, TokensHaveTheirMarks) {
  const json tokens = parse_json(explain("--format json --step tokens")).at("steps").at("tokens");
  const json &source = tokens.at("source").at("tokens").at("values"),
             &target = tokens.at("target").at("tokens").at("values");
  EXPECT_EQ(source.back()[0], "</s>");
  EXPECT_EQ(target[0][0], "<s>");
  EXPECT_EQ(target.back()[2], "</s>");
  for (size_t i = 1; i < target.size(); ++i) EXPECT_EQ(target[i][0], target[i - 1][2]);
}

TEST_F(ExplainCommands, AStepAloneIsAPartOfTheText) {
  const std::string all = explain();
  for (const char* step : {"tokens", "attention", "feed-forward", "loss", "gradient"}) {
    const std::string alone = explain("--step " + std::string(step));
    EXPECT_NE(all.find(alone), all.npos) << step << "\n" << alone;
  }
}

TEST_F(ExplainCommands, LowPrecisionIsSaidAndHasNoGradient) {
  const std::string text = explain("--precision int8");
  EXPECT_TRUE(text.starts_with("This model's weights are in low precision")) << text.substr(0, 200);
  EXPECT_NE(text.find("Weights in low precision have no gradients"), text.npos);
}

TEST_F(ExplainCommands, ALanguageModelHasNoSource) {
  const ModelFolder language("language", 40, true, {.size = 45, .shared = true}, {},
                             DecoderSelfAttention::attention, ModelKind::language_model);
  const json steps = parse_json(explain("--format json --target 'The cat.'", language.path)).at("steps");
  EXPECT_FALSE(steps.at("tokens").contains("source"));
  EXPECT_FALSE(steps.at("attention").contains("cross"));
  run("explain --model " + language.path + " --source a --target b", "", 2);
  EXPECT_NE(errors_.find("is a language model, which reads no source"), errors_.npos) << errors_;
}

TEST_F(ExplainCommands, ASentenceOfTooManySubwordsIsRefused) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a dog ";
  run("explain --model " + folder_.path + " --source '" + text + "' --target b", "", 2);
  EXPECT_NE(errors_.find("subwords, but explain shows at most 128: give shorter sentences"), errors_.npos)
      << errors_;
}

// The smoothing of the recipe that the folder was trained with.
TEST_F(ExplainCommands, SmoothingIsThatOfTraining) {
  EXPECT_NE(explain("--step loss").find("ε = 0.1, V"), std::string::npos) << "the paper's";
  json config = parse_json(read_file(file("config.json")));
  config["recipe"]["training"] = {{"label_smoothing", 0.25}, {"smoothing_over", "others"}};
  write("config.json", config.dump());
  const std::string text = explain("--step loss");
  EXPECT_NE(text.find("ε = 0.25, V"), text.npos) << text;
  EXPECT_NE(text.find("ε/(V − 1)"), text.npos) << text;
  config["recipe"]["training"]["label_smoothing"] = "much";
  write("config.json", config.dump());
  run("explain --model " + folder_.path + " --source a --target b", "", 2);
  EXPECT_NE(errors_.find("config.json: training.label_smoothing is"), errors_.npos) << errors_;
}

// An empty text is still a sentence: its end.
TEST_F(ExplainCommands, EmptyTextsAreMarksAlone) {
  const json tokens =
      parse_json(explain("--format json --step tokens --source '' --target ''")).at("steps").at("tokens");
  EXPECT_EQ(tokens.at("target").at("tokens").at("values").size(), 1U);
  EXPECT_EQ(tokens.at("source").at("tokens").at("values")[0][0], "</s>");
}

}  // namespace
}  // namespace dragoman::internal
