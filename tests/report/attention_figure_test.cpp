// The geometry of attention figures, read from their SVG.
#include "report/attention_figure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// Tokens that differ, some of them long.
std::vector<std::string> tokens(int64_t count, const std::string& side) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(fmt::format("▁{}{}{}", side, i, i % 5 == 3 ? "ordinairement" : ""));
  }
  return result;
}

// Two layers of a kind; each token attends most to the one at its place.
ordered_json weights(int64_t heads, int64_t queries, int64_t keys) {
  ordered_json head = ordered_json::array();
  for (int64_t q = 0; q < queries; ++q) {
    ordered_json row = ordered_json::array();
    for (int64_t k = 0; k < keys; ++k) {
      const double far = std::abs(static_cast<double>(q) / static_cast<double>(queries) -
                                  static_cast<double>(k) / static_cast<double>(keys));
      row.push_back(0.93 * std::exp(-60 * far * far) + 0.00016);
    }
    head.push_back(row);
  }
  const ordered_json layer(static_cast<size_t>(heads), head);
  return {layer, layer};
}

ordered_json sentence(int64_t heads, int64_t length) {
  return {{"source_tokens", tokens(length, "s")},
          {"read_tokens", tokens(length + 2, "r")},
          {"said_tokens", tokens(length + 2, "t")},
          {"attention",
           {{"encoder", weights(heads, length, length)},
            {"decoder", weights(heads, length + 2, length + 2)},
            {"cross", weights(heads, length + 2, length)}}}};
}

TEST(AttentionFigure, ADecoderWithoutSelfAttentionHasNoFigureOfIt) {
  ordered_json one = sentence(2, 5);
  one["attention"]["decoder"] = ordered_json::array();
  EXPECT_EQ(attention_figures(one, AttentionKind::all, 0).size(), 4U);
  EXPECT_THROW(attention_figures(one, AttentionKind::decoder, 0), Error);
}

HeatMaps figure(AttentionKind kind, int64_t heads, int64_t length) {
  return attention_figures(sentence(heads, length), kind, 1).at(0).maps;
}

// A text of a figure and the place where it stands, as far as its font can be foreseen.
struct Label {
  std::string text;
  double left, top, right, bottom;
  bool upright;
};

double number(const std::string& svg, const std::string& pattern) {
  std::smatch match;
  EXPECT_TRUE(std::regex_search(svg, match, std::regex(pattern))) << pattern;
  return match.empty() ? 0 : std::stod(match[1]);
}

std::vector<Label> labels(const std::string& svg) {
  const double name_size = number(svg, R"(\.name\{font-size:(\d+)px)");
  const std::regex text(
      R"re(<text (?:x="([\d.-]+)" y="([\d.-]+)"|transform="translate\(([\d.-]+) ([\d.-]+)\) rotate\(-90\)") )re"
      R"re(text-anchor="(\w+)" class="([\w ]*)">([^<]*)</text>)re");
  std::vector<Label> result;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text), end; it != end; ++it) {
    const std::smatch& match = *it;
    const bool upright = match[3].matched;
    const double x = std::stod(match[upright ? 3 : 1]), y = std::stod(match[upright ? 4 : 2]);
    const std::string kind = match[6];
    const double size = kind == "title"              ? 17
                        : kind == "name"             ? name_size
                        : kind.starts_with("number") ? 10
                                                     : 12;
    const double width = 0.5 * text_width(match[7].str(), size) / 0.6;
    const double before = match[5] == "start" ? 0 : match[5] == "middle" ? width / 2 : width;
    const double above = 0.72 * size;  // of the baseline
    result.push_back(upright ? Label{match[7], x - above, y - width + before, x, y + before, true}
                             : Label{match[7], x - before, y - above, x - before + width, y, false});
  }
  return result;
}

bool overlap(const Label& a, const Label& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

class AttentionFigures : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {};
INSTANTIATE_TEST_SUITE_P(HeadsAndTokens, AttentionFigures,
                         testing::Combine(testing::Values(1, 4, 8), testing::Values(2, 6, 26, 80)));

TEST_P(AttentionFigures, LabelsAreInsideAndApart) {
  const auto [heads, length] = GetParam();
  for (const AttentionKind kind : {AttentionKind::encoder, AttentionKind::decoder, AttentionKind::cross}) {
    const std::string file = svg(figure(kind, heads, length));
    const double width = number(file, R"re(width="(\d+)")re"), height = number(file, R"re(height="(\d+)")re");
    EXPECT_LE(width, 1000);
    const std::vector<Label> all = labels(file);
    for (size_t i = 0; i < all.size(); ++i) {
      const Label& label = all[i];
      EXPECT_TRUE(label.left >= 0 && label.top >= 0 && label.right <= width && label.bottom <= height)
          << label.text;
      for (size_t j = i + 1; j < all.size(); ++j)
        ASSERT_FALSE(overlap(label, all[j])) << label.text << " and " << all[j].text;
    }
  }
}

// Columns under each table; rows beside the first one of each row of tables.
TEST_P(AttentionFigures, TokensAreLabelledOnce) {
  const auto [heads, length] = GetParam();
  const std::string file = svg(figure(AttentionKind::cross, heads, length));
  std::map<std::string, int64_t> columns, rows;
  int64_t tables = 0;
  for (const Label& label : labels(file)) {
    if (label.text.starts_with("s") && label.text != "source (key)") ++columns[label.text];
    if (label.text.starts_with("t")) ++rows[label.text];
    tables += label.text.starts_with("head ");
  }
  EXPECT_EQ(tables, heads);
  EXPECT_EQ(std::ssize(columns), length);
  EXPECT_EQ(std::ssize(rows), length + 2);
  for (const auto& [name, count] : columns) EXPECT_EQ(count, heads) << name;
  const int64_t rows_of_tables = rows.begin()->second;
  EXPECT_LE(rows_of_tables, heads);
  for (const auto& [name, count] : rows) EXPECT_EQ(count, rows_of_tables) << name;
}

TEST_P(AttentionFigures, NumbersFitAndAreNotTiny) {
  const auto [heads, length] = GetParam();
  const std::string file = svg(figure(AttentionKind::cross, heads, length));
  const std::regex pattern(R"re(class="number \w+">([^<]*)<)re");
  size_t count = 0;
  for (std::sregex_iterator it(file.begin(), file.end(), pattern), end; it != end; ++it, ++count) {
    EXPECT_EQ((*it)[1].length(), 4) << (*it)[1];
    EXPECT_GE(std::stod((*it)[1]), 0.05);
  }
  EXPECT_TRUE(count > 0 || length > 6) << "large cells have room for them";
}

TEST(AttentionFigure, AllAreThoseOfEachKindAndLayer) {
  std::vector<std::string> names;
  for (const AttentionFigure& one : attention_figures(sentence(1, 3), AttentionKind::all, 0))
    names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder-1", "encoder-2", "decoder-1", "decoder-2", "cross-1",
                                             "cross-2"}));
  EXPECT_EQ(attention_figures(sentence(1, 3), AttentionKind::cross, 0).size(), 2u);
  EXPECT_EQ(attention_figures(sentence(1, 3), AttentionKind::all, 2).size(), 3u);
  EXPECT_THROW(attention_figures(sentence(1, 3), AttentionKind::all, 3), Error);
}

TEST(AttentionFigure, NamesAreShortAndWithoutTheMarkOfAWordsBegin) {
  ordered_json one = sentence(1, 3);
  one["source_tokens"] = {std::string(300, 'x'), "▁the", "▁"};
  const std::string file = svg(attention_figures(one, AttentionKind::cross, 1)[0].maps);
  EXPECT_NE(file.find(">" + std::string(17, 'x') + "…<"), std::string::npos);
  EXPECT_NE(file.find(">the<"), std::string::npos);
  EXPECT_NE(file.find(">▁<"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
