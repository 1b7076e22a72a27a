// dragoman draw, as a user meets it; and the figures' numbers against the articles' formulas.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/error.h"
#include "base/files.h"
#include "report/figures.h"
#include "run_script.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

const char* const names[] = {"architecture",         "encoder-layer", "decoder-layer",    "attention",
                             "multi-head-attention", "positions",     "position-heatmap", "position-products",
                             "dot-products",         "mask",          "schedules",        "smoothing",
                             "smoothing-loss"};

std::string print(const Arguments& arguments) {
  testing::internal::CaptureStdout();
  try {
    draw(arguments);
  } catch (const UsageError& error) {
    testing::internal::GetCapturedStdout();
    return error.what();
  }
  return testing::internal::GetCapturedStdout();
}

// Whether every element that begins ends, in its turn, and no character stands where it must be escaped.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  const std::regex piece(R"re(<(/?)(\w+)((?: [\w-]+="[^"<&]*")*)(/?)>|(?:[^<>&]|&(?:amp|lt|gt|quot);)+)re");
  size_t at = 0;
  for (std::sregex_iterator found(xml.begin(), xml.end(), piece), end; found != end; ++found) {
    const std::smatch& match = *found;
    if (match.position() != static_cast<std::ptrdiff_t>(at)) return false;
    at += static_cast<size_t>(match.length());
    if (match[2].length() == 0 || match[4].length() > 0) continue;
    if (match[1].length() == 0) {
      open.push_back(match[2]);
    } else if (open.empty() || open.back() != match[2]) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return at == xml.size() && open.empty();
}

double value(const HeatMap& map, int64_t row, int64_t column) {
  return map.values[static_cast<size_t>(row * map.columns + column)];
}

TEST(Draw, ShellsCompleteFiguresAndTheirOptions) {
  EXPECT_TRUE(print({"--help=completion"})
                  .starts_with("architecture::encoder and decoder as a whole\nencoder-layer::"));
  for (const Arguments& words :
       {Arguments{"--help=completion", "schedules"}, {"schedules", "--help=completion"}})
    EXPECT_NE(print(words).find("\n--out:FILE:"), std::string::npos) << print(words);
}

TEST(Draw, BashCompletesFiguresAndTheirOptions) {
  const auto expect = [](const std::string& words, const std::string& completed) {
    const std::string shell = ". " DRAGOMAN_SOURCE_DIR
                              "/share/completion.bash; COMP_WORDS=(" DRAGOMAN_PROGRAM +
                              (" " + words) + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dragoman; " +
                              "echo \"${COMPREPLY[@]}\"; [ \"${COMPREPLY[*]}\" = \"" + completed + "\" ]";
    expect_script_passes("command -v bash >/dev/null || exit 77; bash -c '" + shell + "'");
  };
  expect("dra", "draw");
  expect("draw smo", "smoothing smoothing-loss");
  expect("draw schedules --ou", "--out");
}

TEST(Draw, FiguresAreSelfContained) {
  for (const char* name : names) {
    const std::string svg = print({name});
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << svg;
    EXPECT_TRUE(well_formed(svg)) << name;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << name;
    EXPECT_LT(svg.size(), 40'000u) << name;
    EXPECT_NE(print({name, "--help"}).find("usage: dragoman draw " + std::string(name)), std::string::npos);
  }
}

TEST(Draw, MakesTheFiguresOfTheDocuments) {
  const std::string folder = std::string(DRAGOMAN_SOURCE_DIR) + "/docs/figures/";
  std::vector<std::pair<std::string, Arguments>> figures = {
      {"smoothing-padding", {"smoothing", "--words", "4", "--padding", "true"}},
      {"smoothing-loss-weights", {"smoothing-loss", "--words", "4", "--x", "weight"}}};
  for (const char* name : names) figures.push_back({name, {name}});
  for (const auto& [name, arguments] : figures)
    EXPECT_EQ(read_file(folder + name + ".svg"), print(arguments)) << name << ": draw it again";
}

// Of the boxes of a diagram none reaches into another or out of the figure, and each has room for its text.
TEST(Draw, BoxesOfDiagramsAreApart) {
  struct Placed {
    double left, top, width, height;
  };
  for (const char* name :
       {"architecture", "encoder-layer", "decoder-layer", "attention", "multi-head-attention"}) {
    const std::string file = print({name});
    std::smatch size;
    ASSERT_TRUE(std::regex_search(file, size, std::regex("width=\"(\\d+)\" height=\"(\\d+)\"")));
    const std::regex box(
        "<rect x=\"([\\d.]+)\" y=\"([\\d.]+)\" width=\"([\\d.]+)\" height=\"([\\d.]+)\" rx=\"6\" "
        "class=\"box [\\w-]+\"/>\n<text [^>]*>([^<]*)<");
    std::vector<Placed> boxes;
    for (std::sregex_iterator it(file.begin(), file.end(), box), end; it != end; ++it) {
      const auto value = [&](size_t group) { return std::stod((*it)[group]); };
      const Placed placed = {value(1), value(2), value(3), value(4)};
      EXPECT_LE(placed.left + placed.width, std::stod(size[1])) << name;
      EXPECT_LE(placed.top + placed.height, std::stod(size[2])) << name;
      EXPECT_LE(text_width((*it)[5].str(), 13), placed.width * 1.05) << name << ": " << (*it)[5];
      for (const Placed& other : boxes) {
        EXPECT_TRUE(placed.left >= other.left + other.width || other.left >= placed.left + placed.width ||
                    placed.top >= other.top + other.height || other.top >= placed.top + placed.height)
            << name << ": " << (*it)[5];
      }
      boxes.push_back(placed);
    }
    EXPECT_GE(boxes.size(), 6u) << name;
  }
}

TEST(Draw, WritesAFile) {
  const std::string out = testing::TempDir() + "figure.svg";
  EXPECT_EQ(print({"mask", "--positions", "3", "--out", out}), out + "\n");
  EXPECT_EQ(read_file(out), print({"mask", "--positions", "3"}));
  std::filesystem::remove(out);
}

TEST(Draw, AWrongNameListsTheFigures) {
  const std::string list =
      "architecture, encoder-layer, decoder-layer, attention, multi-head-attention, positions, "
      "position-heatmap, position-products, dot-products, mask, schedules, smoothing, smoothing-loss, curves";
  EXPECT_EQ(print({}), "draw needs the NAME of a figure: " + list);
  EXPECT_EQ(print({"--out", "x.svg"}), "draw needs the NAME of a figure: " + list);
  EXPECT_EQ(print({"masks"}), "draw: unknown figure masks; did you mean mask? The figures are " + list);
}

TEST(Draw, ContradictoryOptionsAreNamed) {
  EXPECT_EQ(print({"positions", "--d_model", "21"}), "the command line: d_model is 21, but must be even");
  EXPECT_EQ(print({"positions", "--first-column", "18"}), "columns is 4, but there are 2 from column 18 on");
  for (const char* curve : {"512", "512:", ":400", "512:4000x", "0:400", "512:0", "a:b"}) {
    EXPECT_NE(print({"schedules", "--curves", curve}).find("is not D_MODEL:WARMUP"), std::string::npos)
        << curve;
  }
}

TEST(Draw, TextIsEscaped) {
  const std::string file = svg(LineChart{
      .title = "a < b & \"c\"", .x_title = "<x>", .y_title = "y", .curves = {{"&", {{0, 0}, {1, 1}}}}});
  EXPECT_TRUE(well_formed(file));
  EXPECT_NE(file.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  const std::string repaired = svg(
      LineChart{.title = "a\xff\x01\n", .x_title = "x", .y_title = "y", .curves = {{"", {{0, 0}, {1, 1}}}}});
  EXPECT_NE(repaired.find("<title>a\uFFFD \n</title>"), std::string::npos) << repaired;
  EXPECT_FALSE(well_formed("<a><b></a></b>"));  // so that the check can fail
  EXPECT_FALSE(well_formed("<a>&</a>"));
}

TEST(Figures, PositionsAreThePapersSines) {
  const LineChart figure = chart(PositionCurves{});
  ASSERT_EQ(figure.curves.size(), 4u);
  ASSERT_EQ(figure.curves[1].points.size(), 100u);
  const double angle = 37 / std::pow(10000, 4.0 / 20);
  EXPECT_NEAR(figure.curves[0].points[37].y, std::sin(angle), 1e-12);
  EXPECT_NEAR(figure.curves[1].points[37].y, std::cos(angle), 1e-12);
  EXPECT_EQ(figure.curves[3].name, "column 7");
}

TEST(Figures, OfWhatAttentionKnowsOfDistances) {
  const LineChart alibi = chart(PositionCurves{.variant = Positions::alibi, .columns = 2, .positions = 3});
  ASSERT_EQ(alibi.curves.size(), 2U);
  EXPECT_EQ(alibi.curves[0].points.front().x, -2);
  EXPECT_EQ(alibi.curves[0].points.front().y, -2 * std::exp2(-4));
  EXPECT_EQ(alibi.curves[1].points.back().y, -2 * std::exp2(-8));
  const LineChart t5 = chart(PositionCurves{.variant = Positions::t5, .positions = 200});
  ASSERT_EQ(t5.curves.size(), 2U);
  EXPECT_EQ(t5.curves[0].points.back().y, 31);  // the encoder's last bucket is after the query
  EXPECT_EQ(t5.curves[1].points.back().y, 0);   // the decoder sees nothing there
  EXPECT_EQ(t5.curves[1].points.front().y, 31);
}

TEST(Figures, TablesOfPositionsDiffer) {
  const HeatMaps figure = chart(PositionTables{.d_model = 8, .positions = 10});
  ASSERT_EQ(figure.maps.size(), 3u);
  EXPECT_NEAR(value(figure.maps[0], 9, 3), std::cos(9 / std::pow(10000, 2.0 / 8)), 1e-12);
  EXPECT_NEAR(value(figure.maps[1], 9, 3), std::sin(9.0 / 10000), 1e-12);  // the slowest sine
  EXPECT_NEAR(value(figure.maps[2], 9, 3), std::cos(9 / std::pow(10000, 6.0 / 8)), 1e-12);
}

TEST(Figures, TheMaskHidesWhatComesLater) {
  const HeatMaps figure = chart(CausalMask{});
  for (int64_t row = 0; row < 20; ++row) {
    for (int64_t column = 0; column < 20; ++column)
      EXPECT_EQ(value(figure.maps[0], row, column), column <= row ? 1 : 0) << row << ", " << column;
  }
}

TEST(Figures, NoamsRatesPeakAtTheEndOfTheWarmUp) {
  const LineChart figure = chart(NoamSchedules{.curves = {"512:4000", "256:777"}});
  for (const auto& [curve, d_model, warmup] :
       {std::tuple(figure.curves[0], 512.0, 4000.0), std::tuple(figure.curves[1], 256.0, 777.0)}) {
    const Point peak = *std::ranges::max_element(curve.points, {}, &Point::y);
    EXPECT_EQ(peak.x, warmup);
    EXPECT_NEAR(peak.y, 1 / std::sqrt(d_model * warmup), 1e-12);
    EXPECT_NEAR(curve.points.front().y, 1 / std::sqrt(d_model) * std::pow(warmup, -1.5), 1e-12);
    EXPECT_EQ(curve.points.back().x, 20000);
    EXPECT_TRUE(std::ranges::is_sorted(curve.points, {}, &Point::x));
  }
}

TEST(Figures, SmoothingSpreadsOverAllOrOverTheOthers) {
  const HeatMaps figure = chart(SmoothedTargets{});
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 5; ++column) {
      EXPECT_NEAR(value(figure.maps[0], row, column), row == column ? 0.68 : 0.08, 1e-6);
      EXPECT_NEAR(value(figure.maps[1], row, column), row == column ? 0.6 : 0.1, 1e-6);
    }
  }
}

// Smoothed over the others, the loss is least where the right word's probability is 1 − ε, and the target's entropy.
TEST(Figures, TooMuchConfidenceCosts) {
  const LineChart figure = chart(SmoothedLosses{});
  const std::vector<Point>& plain = figure.curves[0].points;
  for (const Point& p : plain) EXPECT_NEAR(p.y, -std::log(p.x), 1e-5);
  EXPECT_NEAR(plain.front().x, 0.2, 1e-6);
  const Point least = *std::ranges::min_element(figure.curves[2].points, {}, &Point::y);
  EXPECT_NEAR(least.x, 0.9, 0.01);
  EXPECT_NEAR(least.y, -0.9 * std::log(0.9) - 0.1 * std::log(0.1 / 4), 1e-3);
  EXPECT_GT(figure.curves[2].points.back().y, least.y + 0.1);
}

// As The Annotated Transformer draws it: of five symbols the first is padding.
TEST(Figures, PaddingGetsNothing) {
  const HeatMaps figure = chart(SmoothedTargets{.words = 4, .smoothing = 0.4, .padding = true});
  ASSERT_EQ(figure.maps[1].rows, 5);
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 5; ++column) {
      const double wanted = row == 0 || column == 0 ? 0 : row == column ? 0.6 : 0.4 / 3;
      EXPECT_NEAR(value(figure.maps[1], row, column), wanted, 1e-6) << row << ", " << column;
    }
  }
}

// A word of weight w beside four of weight 1 has the probability w / (w + 4).
TEST(Figures, LossesByTheCorrectWordsWeight) {
  const LineChart figure = chart(SmoothedLosses{.words = 5, .smoothing = 0.1, .x = LossAxis::weight});
  ASSERT_EQ(figure.curves[2].points.size(), 100U);
  const Point p = figure.curves[2].points[9];
  EXPECT_NEAR(p.x, 10, 1e-9);
  EXPECT_NEAR(p.y, -0.9 * std::log(10.0 / 14) - 0.1 * std::log(1.0 / 14), 1e-5);
}

double spread(const ChartCurve& curve) {
  double total = 0, squares = 0;
  for (const Point& p : curve.points) {
    total += p.y;
    squares += p.y * p.x * p.x;
  }
  EXPECT_GT(total, 0.97);  // the figure ends at three deviations
  return squares / total;
}

TEST(Figures, ProductsSpreadWithTheWidthUnlessScaled) {
  const LineChart figure = chart(DotProducts{.d_k = 100});
  ASSERT_EQ(figure.curves.size(), 2U);
  EXPECT_NEAR(spread(figure.curves[0]), 100, 5);
  EXPECT_NEAR(spread(figure.curves[1]), 1, 0.15);  // in bins of a whole score
}

TEST(Figures, ProductsOfPositionsDependOnTheirDistance) {
  const HeatMap products = chart(PositionProducts{.d_model = 16, .positions = 12}).maps[0];
  for (int64_t p = 0; p < 9; ++p) {
    EXPECT_NEAR(value(products, p, p), 1, 1e-12);
    EXPECT_NEAR(value(products, p, p + 3), value(products, 0, 3), 1e-12);
  }
  double sum = 0;
  for (int i = 0; i < 8; ++i) sum += std::cos(3 / std::pow(10000, i / 8.0));
  EXPECT_NEAR(value(products, 0, 3), sum / 8, 1e-12);
}

TEST(Figures, RunsAreDrawnFromTheirHistories) {
  const TemporaryFolder folder;
  for (const auto& [name, loss] : {std::pair("a", 3.5), std::pair("b", 2.5)}) {
    std::filesystem::create_directory(folder.path(name));
    const std::string event = R"({{"event":"validation","step":{},"time":{},"loss":{}}})"
                              "\n";
    folder.write(name + std::string("/metrics.jsonl"), fmt::format(fmt::runtime(event), 10, 100, loss) +
                                                           fmt::format(fmt::runtime(event), 20, 160, 2.25));
  }
  const RunCurves runs = {.runs = {folder.path("a"), folder.path("b/")}};
  const LineChart figure = chart(runs);
  ASSERT_EQ(figure.curves.size(), 2U);
  EXPECT_EQ(figure.curves[1].name, "b");
  ASSERT_EQ(figure.curves[1].points.size(), 2U);
  EXPECT_EQ(figure.curves[1].points[0].x, 10);
  EXPECT_EQ(figure.curves[1].points[0].y, 2.5);
  EXPECT_EQ(print({"curves"}), "runs is empty: name at least one model's folder");
  EXPECT_EQ(print({"curves", "--runs", folder.path("a"), "--metric", "bleu"}),
            "the command line: metric is bleu, but " + folder.path("a") + " has logged loss");
}

// They are called by as much of their paths as tells them apart, and a column's range is no column.
TEST(Figures, RunsOfOneNameAndLongRunsAreDrawn) {
  const TemporaryFolder folder;
  std::string lines;
  for (int step = 1; step <= 500; ++step)
    lines += fmt::format("{{\"event\":\"validation\",\"step\":{0},\"loss\":{0},\"loss_low\":7}}\n", step);
  for (const char* name : {"x", "y"}) {
    std::filesystem::create_directories(folder.path(name + std::string("/model")));
    folder.write(name + std::string("/model/metrics.jsonl"), lines);
  }
  RunCurves runs = {.runs = {folder.path("x/model"), folder.path("y/model")}, .metric = "loss_low"};
  const LineChart figure = chart(runs);
  EXPECT_EQ(figure.curves[0].name, "x/model");
  EXPECT_EQ(figure.curves[1].name, "y/model");
  for (const auto& point : figure.curves[0].points) EXPECT_EQ(point.y, 7);
  runs.metric = "loss_high";
  EXPECT_THROW(chart(runs), Error);
}

TEST(Plot, LargeCellsShowNegativeNumbers) {
  const std::string file =
      svg(HeatMaps{.title = "",
                   .x_title = "",
                   .y_title = "",
                   .min = -1,
                   .max = 1,
                   .maps = {{.title = "", .rows = 1, .columns = 3, .values = {-0.42, 0.42, -0.001}}}});
  EXPECT_NE(file.find(">-0.42<"), std::string::npos) << file;
  EXPECT_NE(file.find(">0.42<"), std::string::npos) << file;
  EXPECT_NE(file.find(">0.00<"), std::string::npos) << file;
}

TEST(Plot, AdjacentCellsOfOneColourAreOneStroke) {
  const std::string file =
      svg(HeatMaps{.title = "",
                   .x_title = "",
                   .y_title = "",
                   .min = 0,
                   .max = 1,
                   .maps = {{.title = "", .rows = 3, .columns = 2, .values = {0, 1, 0, 0, 1, 0}}}});
  EXPECT_NE(file.find("d=\"M0 0v2M1 1v2\""), std::string::npos) << file;
  EXPECT_NE(file.find("d=\"M0 2v1M1 0v1\""), std::string::npos) << file;
}

}  // namespace
}  // namespace dragoman::internal
