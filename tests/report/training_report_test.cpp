// The report's data and page of a run's history.
#include "report/training_report.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "report/training_watch.h"
#include "train/history.h"
#include "train/metrics_log.h"
#include "train/run_checks.h"
#include "train/run_lock.h"

namespace dragoman::internal {
namespace {

class Report : public testing::Test {
 protected:
  Report() { std::filesystem::create_directories(folder_); }
  ~Report() override { std::filesystem::remove_all(folder_); }

  // A run's folder with this history.
  std::string run(const std::string& name, const std::string& metrics, const std::string& config = "") const {
    std::filesystem::create_directories(folder_ + "/" + name);
    std::ofstream(folder_ + "/" + name + "/metrics.jsonl") << metrics;
    if (!config.empty()) std::ofstream(folder_ + "/" + name + "/config.json") << config;
    return folder_ + "/" + name;
  }

  const std::string folder_ = testing::TempDir() + "report";
};

std::string sample(int64_t step, const std::string& translation) {
  return metrics_line("sample", step, 0, {{"source", "s"}, {"reference", "r"}, {"translation", translation}});
}

TEST_F(Report, ColumnsAreAlignedWithSteps) {
  const History history =
      read_history(run("a", metrics_line("train", 1, 0, {{"loss", 5.0}}) +
                                metrics_line("train", 2, 0, {{"loss", 4.0}, {"norm", 1.5}}) +
                                metrics_line("train", 3, 0, {{"norm", std::nan("")}}) +
                                metrics_line("validation", 3, 0, {{"bleu", 12.5}})) +
                   "/metrics.jsonl");
  EXPECT_EQ(history.train.steps, (std::vector<int64_t>{1, 2, 3}));
  const auto &loss = *history.train.column("loss"), &norm = *history.train.column("norm");
  EXPECT_EQ(loss[1], 4.0);
  EXPECT_TRUE(std::isnan(loss[2]));
  EXPECT_TRUE(std::isnan(norm[0]));
  EXPECT_EQ(norm[1], 1.5);
  EXPECT_EQ(norm.size(), 3u);
  EXPECT_EQ(history.train.column("bleu"), nullptr);
  EXPECT_EQ((*history.validation.column("bleu"))[0], 12.5);
  EXPECT_EQ(history.steps, 3);
  EXPECT_FALSE(history.ended);
}

TEST_F(Report, PausesDoNotCountAsTrainingTime) {
  const auto line = [](const char* event, int64_t step, double time) {
    return metrics_line(event, step, time, {});
  };
  const History history =
      read_history(run("a", line("train", 1, 1000) + line("train", 2, 1010) + line("resume", 2, 90000) +
                                line("train", 3, 90020) + line("end", 3, 90021)) +
                   "/metrics.jsonl");
  EXPECT_EQ(history.train.seconds, (std::vector<double>{0, 10, 30}));
  ASSERT_EQ(history.marks.size(), 1u);
  EXPECT_EQ(history.marks[0].event, "resume");
  EXPECT_EQ(history.marks[0].seconds, 10);
  EXPECT_TRUE(history.ended);
}

TEST_F(Report, RecordedSecondsTakePrecedenceOverTheClock) {
  const History history = read_history(run("a", metrics_line("train", 1, 1000, {{"seconds", 7.0}}) +
                                                    metrics_line("validation", 1, 1100, {{"seconds", 90.0}}) +
                                                    metrics_line("train", 2, 1110, {{"seconds", 15.0}})) +
                                       "/metrics.jsonl");
  EXPECT_EQ(history.train.seconds, (std::vector<double>{7, 15}));
  EXPECT_EQ(history.validation.seconds, (std::vector<double>{7}));
}

TEST_F(Report, SamplesListChangedTranslations) {
  const History history = read_history(
      run("a", sample(1, "x") + sample(2, "x") + sample(3, "y") + sample(4, "x")) + "/metrics.jsonl");
  ASSERT_EQ(history.samples.size(), 1u);
  const std::vector<std::pair<int64_t, std::string>> expected = {{1, "x"}, {3, "y"}, {4, "x"}};
  EXPECT_EQ(history.samples[0].translations, expected);
  EXPECT_EQ(downsampled(history.samples[0], 2).translations,
            (std::vector<std::pair<int64_t, std::string>>{{1, "x"}, {4, "x"}}));
}

TEST(Thinned, IsTheMeanOfNeighboursBetweenTheirExtremes) {
  const double nan = std::nan("");
  const Curve curve = {
      .steps = {1, 2, 3, 4, 5}, .seconds = {1, 2, 3, 4, 5}, .columns = {{"loss", {4, 2, nan, 8, nan}}}};
  const Curve thin = downsampled(curve, 3);
  EXPECT_EQ(thin.steps, (std::vector<int64_t>{2, 4, 5}));
  const auto &loss = *thin.column("loss"), &low = *thin.column("loss_low"), &high = *thin.column("loss_high");
  EXPECT_EQ(loss[0], 3);
  EXPECT_EQ(low[0], 2);
  EXPECT_EQ(high[0], 4);
  EXPECT_EQ(loss[1], 8);
  EXPECT_TRUE(std::isnan(loss[2]));
  EXPECT_EQ(downsampled(curve, 5).column("loss_low"), nullptr);
}

TEST(Thinned, AColumnOfARangesNameStaysAColumn) {
  const Curve curve = {
      .steps = {1, 2}, .seconds = {1, 2}, .columns = {{"loss", {4, 2}}, {"loss_low", {6, 8}}}};
  const Curve thin = downsampled(curve, 1);
  EXPECT_EQ(*thin.column("loss_low"), std::vector<double>{7});
  EXPECT_EQ(*thin.column("loss_high"), std::vector<double>{4});
}

TEST(Thinned, SomePointsAreThoseThatWere) {
  const Curve curve = {
      .steps = {1, 2, 3, 4, 5}, .seconds = {10, 20, 30, 40, 50}, .columns = {{"bleu", {1, 2, 3, 4, 5}}}};
  const Curve thin = every_few(curve, 3);
  EXPECT_EQ(thin.steps, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(thin.seconds, (std::vector<double>{10, 30, 50}));
  EXPECT_EQ(*thin.column("bleu"), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(every_few(curve, 2).steps, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(every_few(curve, 5).steps, curve.steps);
}

TEST_F(Report, ADivergenceThatWasUndoneIsNoProgress) {
  const History history =
      read_history(run("a", metrics_line("train", 4000, 1, {{"loss", 5.0}}) +
                                metrics_line("divergence", 4990, 2, {{"reason", "loss"}}) +
                                metrics_line("train", 4200, 3, {{"loss", 4.0}})) +
                   "/metrics.jsonl");
  EXPECT_EQ(history.steps, 4200);
  EXPECT_EQ(history.marks.size(), 1U);
}

TEST_F(Report, ALogOfManyNamesTakesLittleMemory) {
  std::string lines;
  for (int i = 0; i < 1000; ++i)
    lines += metrics_line("train", i, i, {{"name" + std::to_string(i), 1.0}, {"loss", double(i)}});
  const History history = read_history(run("a", lines) + "/metrics.jsonl");
  EXPECT_LE(history.train.columns.size(), 100U);
  EXPECT_EQ(history.train.column("loss")->back(), 999);
}

TEST_F(Report, DataOfALongRunStaySmall) {
  std::string lines;
  for (int step = 1; step <= 5000; ++step) lines += metrics_line("train", step, step, {{"loss", 1.0 / step}});
  const auto data = report_data({run("long", lines)});
  EXPECT_LE(data["runs"][0]["train"]["loss"].size(), 1000u);
  EXPECT_EQ(data["runs"][0]["train"]["step"].back(), 5000);
  EXPECT_LT(data.dump().size(), 100'000u);
}

TEST_F(Report, SummaryHasTheBestValidations) {
  std::string lines;
  const double losses[] = {3, 1, 2}, bleus[] = {5, 9, 12};
  for (int i = 0; i < 3; ++i) {
    lines += metrics_line("validation", 100 * (i + 1), i, {{"loss", losses[i]}, {"bleu", bleus[i]}});
  }
  const auto summary = report_data({run("a", lines)})["runs"][0]["summary"];
  EXPECT_EQ(summary["best_loss"]["value"], 1);
  EXPECT_EQ(summary["best_loss"]["step"], 200);
  EXPECT_EQ(summary["best_bleu"]["step"], 300);
  EXPECT_TRUE(summary["best_chrf"].is_null());
}

TEST_F(Report, LossesAreWithoutLabelSmoothing) {
  const nlohmann::ordered_json smoothed = {{"epoch", 1}, {"loss", 3.0}, {"perplexity", std::exp(2.0)}},
                               plain = {{"epoch", 1}, {"loss", 2.0}, {"perplexity", std::exp(2.0)}};
  const auto data =
      report_data({run("a", metrics_line("train", 1, 0, smoothed) + metrics_line("epoch", 1, 0, smoothed)),
                   run("b", metrics_line("train", 1, 0, plain))});
  const auto &train = data["runs"][0]["train"], &epochs = data["runs"][0]["epochs"];
  EXPECT_NEAR(train["loss"][0].get<double>(), 2, 1e-6);
  EXPECT_EQ(train["smoothed_loss"][0], 3);
  EXPECT_NEAR(epochs["loss"][0].get<double>(), 2, 1e-6);
  EXPECT_EQ(epochs["epoch"][0], 1);
  EXPECT_NEAR(data["runs"][1]["train"]["loss"][0].get<double>(), 2, 1e-6);
  EXPECT_FALSE(data["runs"][1]["train"].contains("smoothed_loss"));
}

TEST_F(Report, ConfigurationsAreFlatAndNamedAsInRecipes) {
  const std::string config = R"({"format": 1, "model": {"d_model": 8}, "recipe": {"model": {"d_model": 8},
                                 "data": {"source": ["a"], "tsv": ""}}})";
  const auto data = report_data({run("a", "", config), run("b", "", "rubbish"), run("c", "")});
  EXPECT_EQ(data["runs"][0]["configuration"].dump(),
            R"({"format":"1","model.d_model":"8","data.source":"[\"a\"]","data.tsv":""})");
  EXPECT_TRUE(data["runs"][1]["configuration"].empty());
  EXPECT_TRUE(data["runs"][2]["configuration"].empty());
}

TEST_F(Report, SettingsThatDifferFromTheirDefaultsAreNamed) {
  Recipe recipe;
  const std::string usual = recipe_json(recipe).dump();
  recipe.model.heads *= 2;
  recipe.training.label_smoothing = 0.25;
  const auto data = report_data({run("a", "", R"({"recipe": )" + recipe_json(recipe).dump() + "}"),
                                 run("b", "", R"({"recipe": )" + usual + "}"), run("c", "")});
  EXPECT_EQ(data["runs"][0]["defaults"].dump(),
            fmt::format(R"({{"model.heads":"{}","training.label_smoothing":"{}"}})", Recipe().model.heads,
                        Recipe().training.label_smoothing));
  EXPECT_TRUE(data["runs"][1]["defaults"].empty());
  EXPECT_TRUE(data["runs"][2]["defaults"].empty());
}

TEST_F(Report, SettingsThatTheRecipeSetAreNamed) {
  const auto data = report_data({run("a", "", R"({"recipe": {}, "given": ["model.heads", "data.tsv"]})"),
                                 run("b", "", R"({"recipe": {}})")});
  EXPECT_EQ(data["runs"][0]["given"].dump(), R"(["model.heads","data.tsv"])");
  EXPECT_FALSE(data["runs"][0]["configuration"].contains("given"));
  EXPECT_TRUE(data["runs"][1]["given"].is_null());
}

TEST_F(Report, ARunThatHasItsFolderIsRunningAndSaysHowLong) {
  const auto summary_of = [&](const std::string& more) {
    const std::string folder =
        run("a", metrics_line("train", 5, 0, {{"seconds", 30.0}, {"done", 0.25}}) + more);
    return report_data({folder})["runs"][0]["summary"];
  };
  EXPECT_FALSE(summary_of("")["running"]);
  EXPECT_TRUE(summary_of("")["seconds_left"].is_null());
  const RunLock lock(folder_ + "/a");
  EXPECT_TRUE(summary_of("")["running"]);
  EXPECT_EQ(summary_of("")["seconds_left"], 90);
  EXPECT_TRUE(summary_of(metrics_line("train", 6, 0, {{"seconds", 31.0}}))["seconds_left"].is_null());
  EXPECT_FALSE(summary_of(metrics_line("end", 6, 0, {}))["running"]);
}

TEST_F(Report, AWatchTellsThatARunBeginsAndEnds) {
  TrainingWatch watch(run("a", metrics_line("train", 1, 0, {{"loss", 5.0}})));
  EXPECT_FALSE((*watch.update())["runs"][0]["summary"]["running"]);
  EXPECT_FALSE(watch.update());
  {
    const RunLock lock(folder_ + "/a");
    EXPECT_TRUE(watch.update().value()["runs"][0]["summary"]["running"]);
    EXPECT_FALSE(watch.update());
  }
  EXPECT_FALSE(watch.update().value()["runs"][0]["summary"]["running"]);
}

TEST_F(Report, RunsOfOneNameAreDistinguished) {
  const auto data = report_data({run("x/model", ""), run("y/model/", ""), run("z", "")});
  EXPECT_EQ(data["runs"][0]["name"], "x/model");
  EXPECT_EQ(data["runs"][1]["name"], "y/model");
  EXPECT_EQ(data["runs"][2]["name"], "z");
}

TEST_F(Report, ThePageIsSelfContainedAndEscapesText) {
  const std::string evil = "</script><script>alert(1)</script>\xff";
  const std::string page = report_page({run("a", sample(1, evil))});
  EXPECT_EQ(page.find(evil.substr(0, 20)), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cscript>alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("/* data */"), std::string::npos);
  EXPECT_NE(page.find("class Chart"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  // Nothing is fetched: the only address is a name space.
  for (const char* outside : {"src=", "@import", "url(http", "<link", "fetch("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST_F(Report, AFolderWithoutHistoryIsAnError) {
  try {
    report_page({folder_});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), folder_ + " has no metrics.jsonl: give the folder of a training run");
  }
}

}  // namespace
}  // namespace dragoman::internal
