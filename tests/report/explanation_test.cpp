// The numbers of `dragoman explain`: against those of formulas in another language, and of the model's own kinds.
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "model/safetensors.h"
#include "model/small_models.h"
#include "report/explain.h"
#include "search/score.h"
#include "text/columns.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

const std::string fixtures = DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/";

ExplainedPair pair_of_ids(Sentence source, Sentence read, Sentence expected) {
  return {.source = std::move(source),
          .read = std::move(read),
          .expected = std::move(expected),
          .source_piece = [](int32_t id) { return "s" + std::to_string(id); },
          .target_piece = [](int32_t id) { return "t" + std::to_string(id); }};
}

// Every number and text of a golden table is in the other one.
void expect_same(const json& wanted, const json& got, const std::string& where) {
  if (wanted.is_number()) {
    ASSERT_TRUE(got.is_number()) << where;
    const auto value = wanted.get<double>();
    EXPECT_NEAR(got.get<double>(), value, 2e-5 * std::max(1.0, std::abs(value))) << where;
  } else if (wanted.is_array()) {
    ASSERT_EQ(got.size(), wanted.size()) << where;
    for (size_t i = 0; i < wanted.size(); ++i)
      expect_same(wanted[i], got[i], where + "[" + std::to_string(i) + "]");
  } else {
    EXPECT_EQ(got, wanted) << where;
  }
}

TEST(ExplanationGolden, EveryNumberIsThatOfTheFormulas) {
  const json cases = parse_json(read_file(fixtures + "explanation.json"));
  for (const json& golden : cases) {
    const std::string fixture = golden.at("fixture");
    const SafetensorsFile file = SafetensorsFile::open(fixtures + fixture + ".safetensors");
    Device device(kernels_for("baseline"), 1);
    Transformer model(model_config_from_json(parse_json(file.metadata("config")), fixture), device,
                      Buffers::weights);
    for (const Parameter& p : model.parameters.list())
      std::ranges::copy(file.floats("parameter/" + p.name, p.value.rows(), p.value.columns()),
                        p.value.writable_values().begin());
    const json all =
        to_json(explain(model, pair_of_ids(golden.at("source"), golden.at("read"), golden.at("expected")),
                        {.head = 2,
                         .weight = golden.at("weight"),
                         .smoothing = {golden.at("smoothing"), SmoothingOver::all}}));
    size_t tables = 0;
    for (const auto& [step, sections] : golden.at("steps").items()) {
      for (const auto& [section, of_section] : sections.items()) {
        for (const auto& [table, values] : of_section.items()) {
          expect_same(values, all.at("steps").at(step).at(section).at(table).at("values"),
                      fixture + " " + step + " " + section + " " + table);
          ++tables;
        }
      }
    }
    EXPECT_GT(tables, 50U);
    const json& row = all.at("steps").at("gradient").at("weight").at("backward").at("values").at(0);
    EXPECT_NEAR(row.at(3).get<double>(), golden.at("gradient").at(row.at(1).get<size_t>()).get<double>(),
                1e-5);
  }
}

class ExplainedModels : public testing::TestWithParam<NamedConfig> {
 protected:
  json explained(const ExplainOptions& options = {}) {
    return to_json(explain(small_.model, pair_, options));
  }
  json step(const std::string& name) { return explained({.step = name}).at("steps").at(name); }
  bool translates() const { return has_encoder(GetParam().config); }

  SmallModel small_{GetParam().config, kernels_for("baseline"), 1};
  const Sentence source_ = translates() ? Sentence{3, 7, 20, 4, 2} : Sentence{}, target_ = {5, 9, 12, 3};
  const ExplainedPair pair_ = pair_of_ids(source_, {1, 5, 9, 12, 3}, {5, 9, 12, 3, 2});
};

// What is shown as the scores gives what the kernel computes from them.
TEST_P(ExplainedModels, WeightsAreTheSoftmaxOfTheScores) {
  const json attention = step("attention");
  for (const auto& [name, section] : attention.items()) {
    if (!section.contains("scores")) continue;  // a recurrent unit
    const json &scores = section.at("scores").at("values"), &weights = section.at("weights").at("values");
    for (size_t i = 0; i < scores.size(); ++i) {
      double sum = 0;
      for (const json& score : scores[i]) sum += score.is_null() ? 0 : std::exp(score.get<double>());
      for (size_t j = 0; j < scores[i].size(); ++j) {
        const double wanted = scores[i][j].is_null() ? 0 : std::exp(scores[i][j].get<double>()) / sum;
        EXPECT_NEAR(weights[i][j].get<double>(), wanted, 1e-5) << name << " " << i << ", " << j;
        EXPECT_EQ(scores[i][j].is_null(), name == "decoder" && j > i) << name;
      }
      EXPECT_NEAR(weights[i].back().get<double>(), 1, 1e-5);
    }
  }
}

// Whatever a model adds for positions is shown.
TEST_P(ExplainedModels, PositionsAreShown) {
  const bool shown_in_attention = GetParam().config.positions == Positions::none;
  const json positions = step("positions");
  for (const auto& [name, section] : positions.items()) {
    const bool reads_in_order = name == "target" && has_ssru(GetParam().config);
    EXPECT_NE(section.contains("positions") || section.contains("angles") || section.contains("bias"),
              shown_in_attention || (reads_in_order && !is_added(GetParam().config.positions)))
        << section;
  }
  if (!shown_in_attention) return;
  EXPECT_EQ(step("attention").at("encoder").at("distance_values").at("rows").size(), 7U);
}

TEST_P(ExplainedModels, TheLossIsTheScore) {
  const json loss = step("loss").at("sentence");
  const std::vector<std::vector<float>> scores =
      score_pairs(small_.model, packed_side({source_}), packed_side({target_}), 1, 2);
  double sum = 0;
  for (size_t i = 0; i < scores[0].size(); ++i) {
    sum -= static_cast<double>(scores[0][i]);
    EXPECT_NEAR(loss.at("tokens").at("values")[i][0].get<double>(), -scores[0][i], 1e-6);
  }
  EXPECT_NEAR(loss.at("totals").at("values")[0][0].get<double>(), sum, 1e-5);
  EXPECT_NEAR(loss.at("totals").at("values")[2][0].get<double>(), std::exp(sum / 5), 1e-4);
}

// Each position's terms, and the smoothed loss that the kernel computes there.
TEST_P(ExplainedModels, TheSmoothedTargetMakesTheLoss) {
  for (const SmoothingOver over : {SmoothingOver::all, SmoothingOver::others}) {
    const json loss = explained({.step = "loss", .smoothing = {0.2F, over}}).at("steps").at("loss");
    const json& total = loss.at("smoothing").at("target").at("values")[2];
    EXPECT_NEAR(total[2].get<double>(), 1, 1e-12);
    EXPECT_NEAR(total[4].get<double>(), loss.at("sentence").at("tokens").at("values")[0][1].get<double>(),
                1e-5);
  }
}

TEST_P(ExplainedModels, TheGradientIsTheSlopeOfTheLoss) {
  for (const char* weight : {"", "decoder.layers.0.feed_forward.norm.gain"}) {
    const json gradient =
        explained({.step = "gradient", .weight = weight}).at("steps").at("gradient").at("weight");
    const json& rows = gradient.at("quotients").at("values");
    const auto backward = gradient.at("backward").at("values")[0][3].get<double>();
    EXPECT_NE(backward, 0);
    EXPECT_NEAR(rows.back()[2].get<double>(), backward, 2e-2 * std::abs(backward) + 1e-4) << gradient;
    EXPECT_EQ(rows.back()[3].get<double>(), backward);
  }
}

TEST_P(ExplainedModels, AStepAloneIsThatOfTheWhole) {
  const json all = explained().at("steps");
  EXPECT_EQ(all.size(), step_names().size());
  for (const std::string& name : step_names()) EXPECT_EQ(step(name), all.at(name)) << name;
}

// What a model does not have is left out, and every table of what it has is whole.
TEST_P(ExplainedModels, TablesAreRectangles) {
  const Explanation explanation = explain(small_.model, pair_, {.layer = 1, .head = 2});
  for (const Step& step : explanation.steps) {
    for (const StepSection& section : step.sections) {
      EXPECT_FALSE(section.tables.empty() && section.notes.empty()) << step.name << " " << section.name;
      EXPECT_TRUE(translates() ||
                  (section.name != "encoder" && section.name != "source" && section.name != "cross"));
      for (const Table& table : section.tables) {
        EXPECT_EQ(table.rows.size(), table.cells.size()) << table.name;
        for (const auto& row : table.cells) {
          const Labels& columns = table.columns;
          EXPECT_EQ(row.size(), columns.empty() ? table.cells.front().size() : columns.size()) << table.name;
        }
      }
    }
  }
}

TEST_P(ExplainedModels, NoLineIsWiderThanATerminal) {
  for (const int64_t width : {60, 80, 100}) {
    const std::string text = to_text(explain(small_.model, pair_, {}), {.columns = 0, .width = width});
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      EXPECT_LE(columns_of(line), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line << "|";
    }
  }
}

std::vector<NamedConfig> every_kind() {
  std::vector<NamedConfig> all = small_configs();
  std::ranges::move(small_language_models(), std::back_inserter(all));
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, ExplainedModels, testing::ValuesIn(every_kind()),
                         [](const auto& test) { return test.param.name; });

std::string message_of_refusal(const ExplainOptions& options) {
  SmallModel small(small_configs()[0].config, kernels_for("baseline"), 1);
  try {
    explain(small.model, pair_of_ids({3, 2}, {1, 5}, {5, 2}), options);
  } catch (const OptionError& error) {
    return error.what();
  }
  return "";
}

TEST(Explanation, WhatDoesNotExistIsRefused) {
  EXPECT_NE(message_of_refusal({.step = "atention"}).find("did you mean attention?"), std::string::npos);
  EXPECT_EQ(message_of_refusal({.layer = 3}), "layer is 3, but the model has 2 layers: count from 1");
  EXPECT_EQ(message_of_refusal({.head = 3}), "head is 3, but the model has 2 heads: count from 1");
  EXPECT_NE(
      message_of_refusal({.step = "gradient", .weight = "encoder.norm.gian"}).find("encoder.norm.gain?"),
      std::string::npos);
  EXPECT_EQ(message_of_refusal({.layer = 2}), "") << "the decoder has it";
}

// A stack with fewer layers says so, and the other one is shown.
TEST(Explanation, AStackWithoutThatLayerSaysSo) {
  SmallModel small(small_configs()[0].config, kernels_for("baseline"), 1);
  const json steps =
      to_json(explain(small.model, pair_of_ids({3, 2}, {1, 5}, {5, 2}), {.layer = 2})).at("steps");
  EXPECT_EQ(steps.at("attention").at("encoder").at("notes")[0], "The encoder has 1 layer of 2 heads.");
  EXPECT_TRUE(steps.at("attention").at("cross").contains("scores"));
  EXPECT_FALSE(steps.at("norm").contains("encoder"));
}

TEST(Explanation, AnOutputThatIsNotFiniteIsAnError) {
  SmallModel small(small_configs()[0].config, kernels_for("baseline"), 1);
  small.model.decoder_norm.gain.writable_values()[3] = std::nanf("");
  EXPECT_THROW(explain(small.model, pair_of_ids({3, 2}, {1, 5}, {5, 2}), {}), Error);
  EXPECT_NO_THROW(explain(small.model, pair_of_ids({3, 2}, {1, 5}, {5, 2}), {.step = "attention"}));
}

// A text that decoding forces is in no loss.
TEST(Explanation, GivenTokensCountInNoLoss) {
  SmallModel small(small_configs()[0].config, kernels_for("baseline"), 1);
  ExplainedPair pair = pair_of_ids({3, 2}, {1, 5, 9}, {5, 9, 2});
  const auto losses = [&] {
    return json(to_json(explain(small.model, pair, {.step = "loss"})).at("steps").at("loss"));
  };
  const json whole = losses();
  pair.given = 1;
  const json part = losses();
  EXPECT_EQ(part.at("sentence").at("tokens").at("rows"), json({"t9", "t2"}));
  EXPECT_EQ(part.at("sentence").at("tokens").at("values")[0],
            whole.at("sentence").at("tokens").at("values")[1]);
}

TEST(Explanation, TextHasTheFirstColumnsOfVectors) {
  SmallModel small(small_configs()[0].config, kernels_for("baseline"), 1);
  const Explanation explanation =
      explain(small.model, pair_of_ids({3, 2}, {1, 5}, {5, 2}), {.step = "embedding"});
  const std::string some = to_text(explanation, {.columns = 3}), all = to_text(explanation, {.columns = 0});
  EXPECT_NE(some.find("[2]"), std::string::npos);
  EXPECT_EQ(some.find("[3]"), std::string::npos);
  EXPECT_NE(some.find("…"), std::string::npos);
  EXPECT_NE(all.find("[19]"), std::string::npos);
  EXPECT_EQ(all.find("…"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
