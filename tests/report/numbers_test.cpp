// Round axes and their labels: one definition for figures (numbers.cpp) and pages (web/numbers.js).
#include "report/numbers.h"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace dragoman::internal {
namespace {

const std::string cases = DRAGOMAN_SOURCE_DIR "/tests/report/axis_cases.json";

TEST(Numbers, AxesAreRound) {
  for (const auto& axis_case : nlohmann::json::parse(read_file(cases))) {
    const Axis axis = round_axis(axis_case["least"], axis_case["most"], axis_case["ticks_at_most"]);
    std::vector<std::string> labels;
    for (const double tick : ticks(axis)) labels.push_back(tick_label(axis, tick));
    EXPECT_EQ(labels, axis_case["labels"].get<std::vector<std::string>>()) << axis_case;
  }
}

TEST(Numbers, PagesHaveTheSameAxes) {
  if (std::system("node --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "node is not installed";
  const std::string folder = DRAGOMAN_SOURCE_DIR;
  const std::string command =
      "node " + folder + "/tests/report/axis_cases.js " + folder + "/web/numbers.js " + cases + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string differences;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) differences += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(differences, "");
}

TEST(Numbers, AreShortened) {
  EXPECT_EQ(rounded(0.123456789, 5), 0.12346);
  EXPECT_EQ(with_significant_digits(1234567.0, 6), 1234570.0);
  EXPECT_EQ(with_significant_digits(0.000123456789, 6), 0.000123457);
}

}  // namespace
}  // namespace dragoman::internal
