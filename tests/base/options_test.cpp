#include "base/options.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/nearest.h"

namespace dragoman::internal {
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
  std::vector<double> shares = {1, 0.5};
  std::vector<int64_t> beams;
};

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    auto own = options.section("", "Options");
    own.add("quiet", settings.quiet, "say nothing");
    own.add("beams", settings.beams, "to try", at_least(1));
    auto model = options.section("model", "The model");
    model.add("width", settings.width, "of a layer", at_least(1));
    model.add("rate", settings.rate, "of dropout", at_least(0).below(1));
    model.add("order", settings.order, "of the norm", {{"before", Order::before}, {"after", Order::after}});
    auto data = options.section("data", "The data");
    data.add("swap", settings.swap, "exchange source and target");
    data.add("name", settings.name, "of the run");
    data.add("files", settings.files, "to read");
    data.add("steps", settings.steps, "to take").formerly("updates").may_change_on_resume();
    data.add("shares", settings.shares, "of the files", at_least(0));
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

  std::string saved_error(const char* json) {
    try {
      options.from_json(nlohmann::json::parse(json), "config.json");
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

// Each part of a key is a table in the one before.
TEST_F(OptionsTest, KeysOfManyPartsAreRefused) {
  const auto parts = [](size_t count, const std::string& part) {
    std::string key = "a";
    while (--count > 0) key += "." + part;
    return key;
  };
  const std::string refused = "r.toml:2: a name of more than 16 parts cannot be an option";
  for (const std::string part : {"a", "\"=\"", "'\"['", " \"\\\"#\" "}) {
    EXPECT_EQ(recipe_error("# 'x\n[" + parts(50'000, part) + "]\n"), refused);
    EXPECT_EQ(recipe_error("\n" + parts(17, part) + " = 1\n"), refused);
    EXPECT_EQ(recipe_error("[model]\nx = [{" + parts(17, part) + " = 1}]\n"), refused);
    EXPECT_EQ(recipe_error("\n" + parts(16, part) + " = 1\n").find("more than"), std::string::npos);
  }
  // Up to two quotation marks before the last three belong to the text.
  for (const std::string text : {"\"\"\"x\"\"\"\"", "'''x''''", "\"\"\"\"\"\"\"", "'''x'''''"})
    EXPECT_EQ(recipe_error("name = " + text + "\n" + parts(17, "a") + " = 1 # '\"\n"), refused) << text;
  std::string shares = "0.5";
  for (int i = 0; i < 100; ++i) shares += ", 0.5";
  const std::string dots(100, '.');
  EXPECT_EQ(recipe_error("# " + dots + "\n[data]\nshares = [" + shares + "]\nname = \"\"\"\n\"" + dots +
                         "\"\"\"\nfiles = ['" + dots + "']\n"),
            "no error");
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
  int64_t samples = 0;  // a default that is the word
  Options others;
  others.section("", "").add("samples", samples, "how many", at_least(1), {"auto", 0});
  others.set_flag("samples", "5");
  EXPECT_EQ(samples, 5);
}

TEST_F(OptionsTest, AListOfNumbersIsReadFromNumbersAndFromStrings) {
  using Numbers = std::vector<double>;
  for (const char* value : {"[2, 1e-2]", "[\"2\", \"0.01\"]", "[2.0, 0.01]"}) {
    settings.shares.clear();
    options.read_recipe("[data]\nshares = " + std::string(value), "r.toml");
    EXPECT_EQ(settings.shares, (Numbers{2, 0.01})) << value;
  }
  options.read_recipe("[data]\nshares = 3\n", "r.toml");
  EXPECT_EQ(settings.shares, Numbers{3});
  options.set_flag("data.shares", "1,0.25");
  EXPECT_EQ(settings.shares, (Numbers{1, 0.25}));
  EXPECT_EQ(options.to_json()["data"]["shares"].dump(), R"(["1","0.25"])");  // as older versions read it
  options.from_json(nlohmann::json::parse(R"({"data": {"shares": [0.5, 1]}})"), "config.json");
  EXPECT_EQ(settings.shares, (Numbers{0.5, 1}));
  options.from_json(nlohmann::json::parse(R"({"data": {"shares": ["0.5"]}})"), "config.json");
  EXPECT_EQ(settings.shares, Numbers{0.5});
  options.set_flag("data.shares", "");
  EXPECT_EQ(settings.shares, Numbers());
  options.set_flag("beams", "1,4");
  EXPECT_EQ(settings.beams, (std::vector<int64_t>{1, 4}));
  for (const char* wrong : {"1.5", "0", "1,x", "1,", "inf", "1e300"})
    EXPECT_NE(flag_error("beams", wrong).find("must be a list of whole numbers, each at least 1"),
              std::string::npos)
        << wrong;
  EXPECT_EQ(settings.beams, (std::vector<int64_t>{1, 4}));
}

TEST_F(OptionsTest, AWholeNumberMayBeWrittenLikeOthers) {
  options.set_flag("model.width", "1e3");
  EXPECT_EQ(settings.width, 1000);
  options.read_recipe("[model]\nwidth = 64.0\n", "r.toml");
  EXPECT_EQ(settings.width, 64);
  for (const char* wrong : {"2.5", "1e300", "inf", "nan"})
    EXPECT_NE(flag_error("model.width", wrong).find("must be a whole number"), std::string::npos) << wrong;
  EXPECT_EQ(settings.width, 64);
}

TEST_F(OptionsTest, AFormerNameIsReadEverywhere) {
  options.read_recipe("[data]\nupdates = 3\n", "r.toml");
  EXPECT_EQ(settings.steps, 3);
  EXPECT_TRUE(options.is_given("data.steps"));
  options.set_flag("data.updates", "4");
  EXPECT_EQ(settings.steps, 4);
  options.from_json(nlohmann::json::parse(R"({"data": {"updates": 5}})"), "config.json");
  EXPECT_EQ(settings.steps, 5);
  EXPECT_EQ(options.to_json()["data"]["steps"], 5);
  EXPECT_FALSE(options.to_json()["data"].contains("updates"));
  EXPECT_EQ(recipe_error("[data]\nupdates = 1.5\n"),
            "r.toml:2: data.steps is 1.5, but must be a whole number");
  const std::string both = "data.updates is the former name of data.steps, which is also set: remove it";
  EXPECT_EQ(recipe_error("[data]\nsteps = 3\nupdates = 3\n"), "r.toml: " + both);
  EXPECT_EQ(saved_error(R"({"data": {"updates": 5, "steps": 5}})"), "config.json: " + both);
  auto data = options.section("data", "Again");
  int64_t other = 0;
  EXPECT_THROW(data.add("updates", other, "the same name"), BrokenInvariant);
  EXPECT_THROW(data.add("other", other, "the same former name").formerly("steps"), BrokenInvariant);
}

TEST_F(OptionsTest, AConfigurationFromBeforeAnOptionHasItsHistoricalDefault) {
  int64_t parts = 8;
  auto more = options.section("more", "More").may_change_on_resume();
  more.add("parts", parts, "at once").formerly("pieces").historical_default(int64_t{0});
  EXPECT_TRUE(options.find("more.parts")->may_change_on_resume);
  EXPECT_TRUE(options.find("data.updates")->may_change_on_resume);
  EXPECT_FALSE(options.find("data.shares")->may_change_on_resume);
  const auto read = [&](const char* text) { options.from_json(nlohmann::json::parse(text), "config.json"); };
  read(R"({"model": {"width": 7}})");
  EXPECT_EQ(parts, 8);  // a part of a configuration
  read(R"({"more": {}})");
  EXPECT_EQ(parts, 0);
  read(R"({"more": {"pieces": 5}})");
  EXPECT_EQ(parts, 5);
}

TEST_F(OptionsTest, KeysOfOtherVersionsMayBeIgnored) {
  const auto saved = nlohmann::json::parse(R"({"model": {"width": 7, "height": 8}, "other": {"x": 1}})");
  EXPECT_THROW(options.from_json(saved, "config.json"), UsageError);
  options.from_json(saved, "config.json", UnknownKeys::ignore);
  EXPECT_EQ(settings.width, 7);
}

TEST_F(OptionsTest, AnUnknownKeyNamesFileLineAndTheNearest) {
  EXPECT_EQ(recipe_error("[model]\n\nwidht = 64\n"),
            "r.toml:3: unknown option model.widht; did you mean model.width?");
  EXPECT_EQ(recipe_error("[data]\nwidth = 64\n"),  // the right name in the wrong table
            "r.toml:2: unknown option data.width; did you mean model.width?");
  EXPECT_EQ(recipe_error("[modle]\nwidth = 64\n"), "r.toml:1: unknown table [modle]; did you mean [model]?");
  EXPECT_EQ(recipe_error("width = 64\n"), "r.toml:1: width is outside any table; did you mean model.width?");
  EXPECT_TRUE(recipe_error("quiet = true\n").starts_with("r.toml:1: quiet is outside any table"));
}

TEST_F(OptionsTest, AWrongValueNamesFileLineAndWhatItMustBe) {
  EXPECT_EQ(recipe_error("[model]\nwidth = \"big\"\n"),
            "r.toml:2: model.width is \"big\", but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nwidth = 0\n"),
            "r.toml:2: model.width is 0, but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nwidth = 64.5\n"),
            "r.toml:2: model.width is 64.5, but must be a whole number, at least 1");
  EXPECT_EQ(recipe_error("[model]\nrate = 1\n"),
            "r.toml:2: model.rate is 1, but must be a number, at least 0 and below 1");
  EXPECT_TRUE(recipe_error("[model]\nrate = nan\n").starts_with("r.toml:2: model.rate is nan"));
  EXPECT_EQ(recipe_error("[model]\norder = \"amid\"\n"),
            "r.toml:2: model.order is \"amid\", but must be one of before, after");
  EXPECT_EQ(recipe_error("[data]\nswap = 1\n"), "r.toml:2: data.swap is 1, but must be true or false");
  EXPECT_EQ(recipe_error("[data]\nfiles = [1, 2]\n"),
            "r.toml:2: data.files is [1, 2], but must be a string or a list of strings");
  EXPECT_EQ(
      recipe_error("[data]\nfiles = [1, \"a\"]\n"),
      "r.toml:2: data.files must be a number, a string, true or false, or a list of numbers or of strings");
  EXPECT_EQ(recipe_error("[data]\nshares = [1, -1]\n"),
            "r.toml:2: data.shares is [1, -1], but must be a list of numbers, each at least 0");
  EXPECT_TRUE(recipe_error("[data]\nshares = [\"1\", \"x\"]\n").starts_with("r.toml:2: data.shares is"));
  EXPECT_TRUE(recipe_error("[data]\nshares = true\n").starts_with("r.toml:2: data.shares is true, but"));
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
            "the command line: unknown option model.with; did you mean model.width?");
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
    EXPECT_NE(options.markdown(option.section).find(option.name + "` |"), std::string::npos) << option.key();
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_NE(help.find("of dropout [0.1, at least 0 and below 1]"), std::string::npos) << help;
  EXPECT_NE(help.find("--model.order before|after"), std::string::npos) << help;
  EXPECT_NE(help.find("of the files [1,0.5, each at least 0]"), std::string::npos) << help;
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
  EXPECT_EQ(nearest("train" + std::string(10'000'000, 'x'), {"prepare", "train"}), "train");
}

}  // namespace
}  // namespace dragoman::internal
