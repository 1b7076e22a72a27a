#include "app/command_line.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    auto command = own.section("", "Options");
    command.add("pieces", pieces, "show subwords");
    command.add("prefix", prefix, "of each output").shows("FILE").letter('p');
    command.add("models", models, "to ask");
    auto model = recipe.section("model", "The model");
    model.add("width", width, "of a layer");
    model.add("steps", steps, "to take").formerly("updates");
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
  int64_t width = 8, steps = 0;
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

TEST_F(CommandLineTest, ABoolIsTurnedOffByNo) {
  pieces = true;
  ASSERT_TRUE(line.read({"a", "--no-pieces"}));
  EXPECT_FALSE(pieces);
  EXPECT_EQ(error({"a", "--no-pieces=true"}), "try: --no-pieces takes no value");
  EXPECT_EQ(error({"a", "--no-pieces", "--pieces"}),
            "try: --no-pieces and --pieces are the same option: remove one of them");
  EXPECT_NE(error({"a", "--no-prefix"}).find("unknown option --no-prefix"), std::string::npos);
}

TEST_F(CommandLineTest, AnOptionMayHaveALetter) {
  ASSERT_TRUE(line.read({"-p", "x", "a"}));
  EXPECT_EQ(prefix, "x");
  ASSERT_TRUE(line.read({"-p", "x", "a", "--prefix", "y"}));
  EXPECT_EQ(prefix, "y");
  EXPECT_NE(own.help().find("  -p, --prefix FILE "), std::string::npos) << own.help();
}

TEST_F(CommandLineTest, ShellsCompleteWhatIsDeclared) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"--help=completion"}));
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(printed.starts_with("--pieces::show subwords\n--prefix:FILE:of each output\n")) << printed;
  EXPECT_NE(printed.find("--model.width:N:of a layer\n"), std::string::npos);
}

TEST_F(CommandLineTest, ABoolTakesTrueAndFalseAsAWord) {
  pieces = true;
  ASSERT_TRUE(line.parse({"--pieces", "false", "a.txt", "--prefix", "true"}));
  line.set_flags();
  EXPECT_FALSE(pieces);
  EXPECT_EQ(file, "a.txt");
  EXPECT_EQ(prefix, "true");
}

TEST_F(CommandLineTest, AValueMayBeEmptyOrHaveAnEqualsSign) {
  prefix = "default";
  ASSERT_TRUE(line.parse({"--prefix=", "a.txt"}));
  line.set_flags();
  EXPECT_EQ(file, "a.txt");
  EXPECT_EQ(prefix, "");
  ASSERT_TRUE(line.parse({"--prefix=a=b", "a.txt"}));
  line.set_flags();
  EXPECT_EQ(prefix, "a=b");
}

TEST_F(CommandLineTest, ADashAloneIsAnArgument) {
  ASSERT_TRUE(line.parse({"-"}));
  EXPECT_EQ(file, "-");
}

TEST_F(CommandLineTest, TwoDashesEndTheOptions) {
  ASSERT_TRUE(line.parse({"--pieces", "--", "--prefix"}));
  line.set_flags();
  EXPECT_TRUE(pieces);
  EXPECT_EQ(file, "--prefix");
  ASSERT_TRUE(line.parse({"--", "--help"}));
  EXPECT_EQ(file, "--help");
}

TEST_F(CommandLineTest, SeveralArgumentsStandAnywhereAmongTheOptions) {
  std::vector<std::string> rest;
  line.add_arguments("MORE", rest, "to read, too", /*required=*/false);
  ASSERT_TRUE(line.parse({"a", "--pieces", "b", "--prefix", "x", "c"}));
  EXPECT_EQ(file, "a");
  EXPECT_EQ(rest, (std::vector<std::string>{"b", "c"}));
  ASSERT_TRUE(line.parse({"a"}));
  EXPECT_TRUE(rest.empty());
}

TEST_F(CommandLineTest, OneOfSeveralArgumentsMayBeRequired) {
  std::vector<std::string> files;
  CommandLine other("try", "tries");
  other.add_arguments("FILE", files, "to read");
  EXPECT_THROW(other.parse({}), UsageError);
  ASSERT_TRUE(other.parse({"a", "b"}));
  EXPECT_EQ(files, (std::vector<std::string>{"a", "b"}));
}

TEST_F(CommandLineTest, AnOptionMayBeGivenUnderItsFormerName) {
  ASSERT_TRUE(line.parse({"a.txt", "--model.updates", "3"}));
  line.set_flags();
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(error({"a.txt", "--model.updates=3", "--model.steps=3"}),
            "try: --model.updates and --model.steps are the same option: remove one of them");
}

TEST_F(CommandLineTest, HelpIsPrintedHoweverWrongTheRestIs) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"--nonsense", "-h"}));
  EXPECT_NE(testing::internal::GetCapturedStdout().find("usage: "), std::string::npos);
}

TEST_F(CommandLineTest, HelpAsMarkdownHasTheCommandsOwnOptions) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"--help=markdown"}));
  const std::string page = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(page.starts_with("## `dragoman try`\n")) << page;
  EXPECT_NE(page.find("| `--pieces` | `false` | true or false | show subwords |"), std::string::npos) << page;
  EXPECT_EQ(page.find("width"), std::string::npos) << page;
  EXPECT_NE(page.find("Also the options of [`[model]`](#model-the-model)"), std::string::npos) << page;
}

TEST_F(CommandLineTest, HelpAsMarkdownLinksToAGroupThatCommandsShare) {
  int64_t listed_beam = 5, beam = 1;
  bool sample = false;
  Options table, search;
  for (auto [options, variable] : {std::pair(&table, &listed_beam), std::pair(&search, &beam)}) {
    auto group = options->section("", "How to search");
    group.add("beam", *variable, "size of the beam");
    group.add("sample", sample, "draw at random");
  }
  line.add_shared_options(search, table);
  ASSERT_TRUE(line.read({"a.txt", "--beam", "2"}));
  EXPECT_EQ(beam, 2);
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.parse({"--help=markdown"}));
  const std::string page = testing::internal::GetCapturedStdout();
  const std::string note =
      "Also the options of [How to search](#how-to-search), here with `--beam 1` by default.\n";
  EXPECT_NE(page.find("### Options\n\n| option "), std::string::npos) << page;
  EXPECT_NE(page.find(note), std::string::npos) << page;
  EXPECT_EQ(page.find("size of the beam"), std::string::npos) << page;
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
            "try: unknown option --model.widht; did you mean --model.width?");
  EXPECT_EQ(error({"a.txt", "--width", "2"}), "try: unknown option --width; did you mean --model.width?");
  EXPECT_EQ(error({"a.txt", "--other-width", "2"}), "try: unknown option --other-width");
  EXPECT_EQ(error({"a.txt", "--prefx", "2"}), "try: unknown option --prefx; did you mean --prefix?");
  EXPECT_EQ(error({"a.txt", "b.txt"}), "try: unexpected argument \"b.txt\": see dragoman try --help");
  EXPECT_EQ(error({"a.txt", "--PREFIX", "2"}), "try: unknown option --PREFIX; did you mean --prefix?");
  EXPECT_EQ(error({"a.txt", "--prefix"}), "try: --prefix needs a value");
  EXPECT_EQ(error({"a.txt", "--prefix", "--model.width=2"}),
            "try: --prefix needs a value, and --model.width=2 is the next option: write --prefix=VALUE");
  EXPECT_EQ(error({"a.txt", "-x"}), "try: unknown option -x");
  EXPECT_EQ(error({}), "try: missing FILE (to read): see dragoman try --help");
}

}  // namespace
}  // namespace dragoman::internal
