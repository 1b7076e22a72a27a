// dragoman calibrate, and what translate does with confidence.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/results.h"
#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

class CalibrateCommand : public TranslatingCommands {
 protected:
  // Sources, and what the model makes of them in two of three lines.
  void calibrate() {
    std::string sources;
    for (int i = 0; i < 60; ++i) sources += "The cat sleeps at " + std::to_string(i) + ".\n";
    Lines references = lines_of(translate(sources));
    std::string all;
    for (size_t i = 0; i < references.size(); ++i)
      all += (i % 3 == 0 ? "something else" : references[i]) + "\n";
    printed_ = run("calibrate --model " + folder_.path + " --max-length 20 --source " + write("s", sources) +
                   " --reference " + write("r", all));
  }

  std::string printed_;
};

TEST_F(CalibrateCommand, PrintsTheErrorsBeforeAndAfter) {
  calibrate();
  const Lines lines = lines_of(printed_);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0].rfind("60 lines, ", 0), 0u) << lines[0];
  EXPECT_NE(lines[2].find("before"), std::string::npos);
  EXPECT_NE(errors_.find("confidence.json"), std::string::npos) << errors_;
}

TEST_F(CalibrateCommand, JsonHasConfidenceAndFindings) {
  calibrate();
  const auto object = nlohmann::json::parse(
      translate("There are 1987 cats.\n", "--format json --confidence --from en --to fr"));
  EXPECT_GT(object["confidence"].get<double>(), 0);
  ASSERT_FALSE(object["words"].empty());
  EXPECT_LE(object["words"][0]["confidence"].get<double>(), 1);
  ASSERT_FALSE(object["findings"].empty());
  EXPECT_EQ(object["findings"][0]["check"], "numbers");
  EXPECT_EQ(object["findings"][0]["description"], "“1987” is missing");
  const auto both = nlohmann::json::parse(
      translate("There are 1987 cats.\n", "--format json --confidence --from en --to fr --nbest 2"));
  EXPECT_EQ(both["nbest"][0]["findings"], object["findings"]);
  EXPECT_TRUE(both["nbest"][1]["findings"].is_array());
  EXPECT_FALSE(nlohmann::json::parse(translate("A cat.\n", "--format json")).contains("confidence"));
}

TEST(ConfidenceOfResults, IsNoneInNothingForAText) {
  const auto confidence_of = [](const std::string& source, const std::string& text) {
    TranslatedLine line;
    line.source = source;
    line.translations.front().text = text;
    return to_public(std::move(line), nullptr).hypotheses.front().confidence();
  };
  EXPECT_EQ(confidence_of("The cat sleeps.", ""), 0);
  EXPECT_EQ(confidence_of("The cat sleeps.\n", "\n"), 0);
  EXPECT_EQ(confidence_of(" ", ""), 1);
  TranslatedLine confirmed;
  confirmed.source = "The cat sleeps.";
  confirmed.memory = true;
  EXPECT_EQ(to_public(std::move(confirmed), nullptr).hypotheses.front().confidence(), 1);
}

TEST_F(CalibrateCommand, ReviewPrintsOnlyWhatIsDoubtful) {
  calibrate();
  const std::string input = "The cat sleeps.\n\nIt is 1987.\n";
  const Lines all = lines_of(translate(input, "--review 1"));
  ASSERT_EQ(all.size(), 2u) << "an empty line needs no review";
  EXPECT_EQ(all[0].rfind("1\t0.", 0), 0u) << all[0];
  EXPECT_EQ(std::ranges::count(all[0], '\t'), 4);
  EXPECT_NE(errors_.find("2 of 3 lines to be reviewed"), std::string::npos) << errors_;
  // However sure the model is, a number that is gone is shown.
  const Lines found = lines_of(translate(input, "--review 0.000001"));
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.back().find("“1987” is missing"), std::string::npos) << found.back();
  const auto object = nlohmann::json::parse(lines_of(translate(input, "--review 1 --format json")).back());
  EXPECT_EQ(object["line"], 3);
  EXPECT_EQ(object["translation"]["source"], "It is 1987.");
}

TEST_F(CalibrateCommand, RefusesWhatHasNoEffect) {
  run("translate --model " + folder_.path + " --confidence", "", 2);
  EXPECT_NE(errors_.find("--confidence needs --format json"), std::string::npos) << errors_;
  run("translate --model " + folder_.path + " --review 0.5 --nbest 2", "", 2);
  EXPECT_NE(errors_.find("have no effect with --review"), std::string::npos) << errors_;
  run("calibrate --model " + folder_.path, "", 2);
  EXPECT_NE(errors_.find("calibrate needs --model DIR, --source FILE and one --reference FILE"),
            std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
