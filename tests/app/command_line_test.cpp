#include "app/command_line.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    auto command = own.section("", "Options");
    command.add("pieces", pieces, "show subwords");
    command.add("prefix", prefix, "of each output");
    command.add("models", models, "to ask");
    auto model = recipe.section("model", "The model");
    model.add("width", width, "of a layer");
    line.add_argument("FILE", file, "to read");
    line.add_options(own);
    line.add_options(recipe);
  }

  std::string error(const std::vector<std::string>& arguments) {
    try {
      line.parse(arguments);
    } catch (const UsageError& failure) {
      return failure.what();
    }
    return "no error";
  }

  bool pieces = false;
  std::string prefix, file;
  std::vector<std::string> models;
  int64_t width = 8;
  Options own, recipe;
  CommandLine line = CommandLine("try", "tries");
};

TEST_F(CommandLineTest, FlagsStandAnywhereAndTheLastWins) {
  ASSERT_TRUE(line.parse({"--model.width", "1", "a.txt", "--model.width=2", "--prefix", "-x"}));
  EXPECT_EQ(width, 8);  // not before set_flags: a recipe is read in between
  line.set_flags();
  EXPECT_EQ(file, "a.txt");
  EXPECT_EQ(width, 2);
  EXPECT_EQ(prefix, "-x");
  EXPECT_FALSE(pieces);
}

TEST_F(CommandLineTest, AListTakesAllThatItIsGiven) {
  ASSERT_TRUE(line.parse({"a.txt", "--models", "x", "--pieces", "--models=y,z"}));
  line.set_flags();
  EXPECT_EQ(models, (std::vector<std::string>{"x", "y", "z"}));
}

TEST_F(CommandLineTest, ABoolTakesNoWordThatFollowsIt) {
  ASSERT_TRUE(line.parse({"--pieces", "a.txt"}));
  line.set_flags();
  EXPECT_EQ(file, "a.txt");
  EXPECT_TRUE(pieces);
}

TEST_F(CommandLineTest, ABoolCanBeTurnedOff) {
  pieces = true;
  ASSERT_TRUE(line.parse({"--pieces=false", "a.txt"}));
  line.set_flags();
  EXPECT_FALSE(pieces);
}

TEST_F(CommandLineTest, ABoolTakesTrueAndFalseAsAWord) {
  pieces = true;
  ASSERT_TRUE(line.parse({"--pieces", "false", "a.txt", "--prefix", "true"}));
  line.set_flags();
  EXPECT_FALSE(pieces);
  EXPECT_EQ(file, "a.txt");
  EXPECT_EQ(prefix, "true");
}

TEST_F(CommandLineTest, HelpStopsTheCommand) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"--help"}));
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* part :
       {"usage: dragoman try FILE [--OPTION VALUE ...]", "to read", "--pieces ", "--model.width N"}) {
    EXPECT_NE(help.find(part), std::string::npos) << help;
  }
}

TEST_F(CommandLineTest, WhatIsNotUnderstoodIsNamed) {
  EXPECT_EQ(error({"a.txt", "--model.widht=2"}),
            "try has no option --model.widht; the nearest one is --model.width");
  EXPECT_EQ(error({"a.txt", "--prefx", "2"}), "try has no option --prefx; the nearest one is --prefix");
  EXPECT_EQ(error({"a.txt", "b.txt"}), "try takes 1 argument, and \"b.txt\" is one too many");
  EXPECT_EQ(error({"a.txt", "--prefix"}), "try: --prefix needs a value");
  EXPECT_EQ(error({}), "try needs FILE, to read: see dragoman try --help");
}

}  // namespace
}  // namespace dragoman
