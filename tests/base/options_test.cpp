#include "base/options.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/nearest.h"

namespace dragoman {
namespace {

enum class Order { before, after };

struct Settings {
  int64_t width = 512;
  double rate = 0.1;
  bool swap = false;
  std::string name = "base";
  std::vector<std::string> files;
  Order order = Order::before;
  int64_t steps = 0;
  int64_t batch = 64;
  bool quiet = false;
};

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    auto own = options.section("", "Options");
    own.add("quiet", settings.quiet, "say nothing");
    auto model = options.section("model", "The model");
    model.add("width", settings.width, "of a layer", at_least(1));
    model.add("rate", settings.rate, "of dropout", at_least(0).below(1));
    model.add("order", settings.order, "of the norm", {{"before", Order::before}, {"after", Order::after}});
    auto data = options.section("data", "The data");
    data.add("swap", settings.swap, "exchange source and target");
    data.add("name", settings.name, "of the run");
    data.add("files", settings.files, "to read");
    data.add("steps", settings.steps, "to take");
    data.add("batch", settings.batch, "at once", at_least(1), {"auto", 0});
  }

  std::string recipe_error(const std::string& text) {
    try {
      options.read_recipe(text, "r.toml");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  std::string flag_error(const std::string& key, const std::string& text) {
    try {
      options.set_flag(key, text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  Settings settings;
  Options options;
};

TEST_F(OptionsTest, ARecipeSetsWhatItNamesAndNothingElse) {
  options.read_recipe(
      "[model]\nwidth = 64\nrate = 0\norder = \"after\"\n[data]\nswap = true\nfiles = [\"a\", \"b\"]\n",
      "r.toml");
  EXPECT_EQ(settings.width, 64);
  EXPECT_EQ(settings.rate, 0.0);  // a whole number is a number
  EXPECT_EQ(settings.order, Order::after);
  EXPECT_TRUE(settings.swap);
  EXPECT_EQ(settings.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings.name, "base");
}

TEST_F(OptionsTest, FlagsOverrideTheRecipe) {
  options.read_recipe("[model]\nwidth = 64\n", "r.toml");
  options.set_flag("model.width", "128");
  options.set_flag("model.rate", "1e-3");
  options.set_flag("data.name", "12");  // a text, though it looks like a number
  options.set_flag("data.files", "a,b");
  options.set_flag("data.swap", "true");
  options.set_flag("quiet", "true");
  EXPECT_EQ(settings.width, 128);
  EXPECT_EQ(settings.rate, 1e-3);
  EXPECT_EQ(settings.name, "12");
  EXPECT_EQ(settings.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(settings.swap);
  EXPECT_TRUE(settings.quiet);
}

TEST_F(OptionsTest, AFlagOfNoTextEmptiesAList) {
  options.read_recipe("[data]\nfiles = [\"a\", \"b\"]\n", "r.toml");
  options.set_flag("data.files", "");
  EXPECT_EQ(settings.files, std::vector<std::string>());
}

TEST_F(OptionsTest, ANumberMayHaveAWordInsteadOfIt) {
  options.read_recipe("[data]\nbatch = \"auto\"\n", "r.toml");
  EXPECT_EQ(settings.batch, 0);
  EXPECT_EQ(options.to_json()["data"]["batch"], "auto");
  options.set_flag("data.batch", "128");
  EXPECT_EQ(settings.batch, 128);
  EXPECT_EQ(options.to_json()["data"]["batch"], 128);
  options.set_flag("data.batch", "auto");
  EXPECT_EQ(settings.batch, 0);
  options.check_values();
  for (const char* wrong : {"0", "all", "1.5"}) {
    const std::string error = flag_error("data.batch", wrong);
    EXPECT_NE(error.find("must be a whole number, at least 1, or auto"), std::string::npos) << error;
  }
}

TEST_F(OptionsTest, AnUnknownKeyNamesFileLineAndTheNearest) {
  EXPECT_EQ(recipe_error("[model]\n\nwidht = 64\n"),
            "r.toml:3: there is no option model.widht; the nearest one is model.width");
  EXPECT_EQ(recipe_error("[data]\nwidth = 64\n"),  // the right name in the wrong table
            "r.toml:2: there is no option data.width; the nearest one is model.width");
  EXPECT_EQ(recipe_error("[modle]\nwidth = 64\n"),
            "r.toml:1: there is no table [modle]; the nearest one is [model]");
  EXPECT_EQ(recipe_error("width = 64\n"),
            "r.toml:1: width stands outside every table; the nearest option is model.width");
  EXPECT_TRUE(recipe_error("quiet = true\n").starts_with("r.toml:1: quiet stands outside every ta"));
}

TEST_F(OptionsTest, AWrongValueNamesFileLineAndWhatItMustBe) {
  EXPECT_EQ(recipe_error("[model]\nwidth = \"big\"\n"),
            "r.toml:2: model.width is \"big\", but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nwidth = 0\n"),
            "r.toml:2: model.width is 0, but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nwidth = 64.0\n"),
            "r.toml:2: model.width is 64, but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nrate = 1\n"),
            "r.toml:2: model.rate is 1, but must be a number, at least 0 and below 1");
  EXPECT_TRUE(recipe_error("[model]\nrate = nan\n").starts_with("r.toml:2: model.rate is nan"));
  EXPECT_EQ(recipe_error("[model]\norder = \"amid\"\n"),
            "r.toml:2: model.order is \"amid\", but must be one of before, after");
  EXPECT_EQ(recipe_error("[data]\nswap = 1\n"), "r.toml:2: data.swap is 1, but must be true or false");
  EXPECT_EQ(recipe_error("[data]\nfiles = [1, 2]\n"),
            "r.toml:2: data.files is neither a number, a text, true or false, nor a list of texts");
  EXPECT_EQ(settings.width, 512);  // nothing was set
}

TEST_F(OptionsTest, BrokenTomlNamesFileAndLine) {
  EXPECT_TRUE(recipe_error("[model]\nwidth = \n").starts_with("r.toml:2:"));
  EXPECT_TRUE(recipe_error("[model]\nwidth = 1\nwidth = 2\n").starts_with("r.toml:3:"));
  EXPECT_TRUE(recipe_error("[model]\nwidth = 99999999999999999999\n").starts_with("r.toml:2:"));
  EXPECT_TRUE(recipe_error("[data]\nname = \"\xff\"\n").starts_with("r.toml:2:"));
}

TEST_F(OptionsTest, AWrongFlagSaysSo) {
  EXPECT_EQ(flag_error("model.width", "x"),
            "the command line: model.width is \"x\", but must be a whole number, at least 1");
  EXPECT_TRUE(flag_error("model.width", "12x").starts_with("the command line: model.width is \"12x\", "));
  EXPECT_TRUE(flag_error("model.rate", "inf").starts_with("the command line: model.rate is inf, but"));
  EXPECT_EQ(flag_error("model.with", "1"),
            "the command line: there is no option model.with; the nearest one is model.width");
}

TEST_F(OptionsTest, ACheckNamesThePlaceOfTheValue) {
  const auto check_error = [&] {
    try {
      options.check([] { throw OptionError("model.width", "is odd"); });
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(check_error(), "model.width is odd");
  options.read_recipe("[model]\nwidth = 63\n", "r.toml");
  EXPECT_EQ(check_error(), "r.toml:2: model.width is odd");
  options.set_flag("model.width", "65");
  EXPECT_EQ(check_error(), "the command line: model.width is odd");
}

TEST_F(OptionsTest, ValuesSetInCodeAreCheckedToo) {
  EXPECT_NO_THROW(options.check_values());
  settings.rate = 1.5;
  EXPECT_THROW(options.check_values(), OptionError);
  settings.rate = 0;
  settings.order = static_cast<Order>(7);
  EXPECT_THROW(options.check_values(), OptionError);
}

TEST_F(OptionsTest, SavedValuesComeBack) {
  settings = {
      .width = 3, .rate = 1.0 / 3, .swap = true, .name = "ü\"", .files = {"a"}, .order = Order::after};
  const nlohmann::json saved = nlohmann::json::parse(options.to_json().dump());
  EXPECT_FALSE(saved.contains(""));  // a command's own options are not part of a configuration
  settings = {};
  options.from_json(saved, "config.json");
  EXPECT_EQ(settings.width, 3);
  EXPECT_EQ(settings.rate, 1.0 / 3);
  EXPECT_TRUE(settings.swap);
  EXPECT_EQ(settings.name, "ü\"");
  EXPECT_EQ(settings.files, std::vector<std::string>{"a"});
  EXPECT_EQ(settings.order, Order::after);
}

TEST_F(OptionsTest, AnOlderConfigurationKeepsDefaultsAndABrokenOneIsRefused) {
  const auto read = [&](const char* text) { options.from_json(nlohmann::json::parse(text), "config.json"); };
  read(R"({"model": {"width": 7}})");
  EXPECT_EQ(settings.width, 7);
  EXPECT_EQ(settings.rate, 0.1);
  EXPECT_THROW(read(R"([])"), Error);
  EXPECT_THROW(read(R"({"model": 3})"), Error);
  EXPECT_THROW(read(R"({"other": {}})"), UsageError);
  EXPECT_THROW(read(R"({"": {"quiet": true}})"), UsageError);
  EXPECT_THROW(read(R"({"model": {"height": 7}})"), UsageError);
  EXPECT_THROW(read(R"({"model": {"width": 18446744073709551615}})"), UsageError);
  EXPECT_THROW(read(R"({"model": {"width": null}})"), UsageError);
}

TEST_F(OptionsTest, HelpShowsEveryOptionWithin100Columns) {
  auto more = options.section("more", "More");
  int64_t number = 1;
  more.add(
      "a_name_that_is_longer_than_the_column_of_helps", number,
      "a help that is so long that it cannot stand in one line beside its flag, nor in the line below it, "
      "whatever one tries",
      at_least(1).at_most(9));
  const std::string help = options.help();
  for (const Option& option : options.all()) {
    EXPECT_NE(help.find("--" + option.key()), std::string::npos) << option.key();
    EXPECT_NE(options.markdown().find("| `" + option.name + "` |"), std::string::npos) << option.key();
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_NE(help.find("of dropout [0.1, at least 0 and below 1]"), std::string::npos) << help;
  EXPECT_NE(help.find("--model.order before|after"), std::string::npos) << help;
  EXPECT_EQ(help.find("[]"), std::string::npos) << help;  // an empty list or text says nothing
  EXPECT_EQ(help.find("[\"\"]"), std::string::npos) << help;
}

TEST_F(OptionsTest, DeclaringTwiceIsAFaultOfOurs) {
  auto model = options.section("model", "Again");
  EXPECT_THROW(model.add("width", settings.width, "again"), BrokenInvariant);
}

TEST(Nearest, CountsLettersAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("widht", "width"), 1);
  EXPECT_EQ(nearest("trian", {"prepare", "train", "translate"}), "train");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace dragoman
