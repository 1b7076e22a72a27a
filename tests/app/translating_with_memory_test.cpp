// translate --memory and memory evaluate, as a user meets them.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

class TranslatingWithMemory : public TranslatingCommands {
 protected:
  TranslatingWithMemory() {
    run("memory build --from en --to fr --out " + memory_ + " " +
        write("segments.tsv",
              "The cat sleeps.\tLe chat  dort.\nIt is cold.\tIl fait froid.\n"
              "A dog barks at the cat.\tUn chien aboie.\n"));
  }
  std::string translate_with_memory(const std::string& input, const std::string& more = "") {
    return translate(input, "--memory " + memory_ + " " + more);
  }

  const std::string memory_ = file("memory");
};

TEST_F(TranslatingWithMemory, KnownLinesAreAsTheMemoryHasThem) {
  const std::string input = "It is cold.\nA dog barks at the dog.\n\n  the cat sleeps.\nThe  cat sleeps.\n";
  const Lines lines = lines_of(translate_with_memory(input));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "Il fait froid.");
  EXPECT_EQ(lines[2], "");
  EXPECT_NE(lines[3], "Le chat  dort.");
  EXPECT_EQ(lines[4], "Le chat  dort.");
  EXPECT_EQ(lines_of(translate_with_memory(input, "--no-match-case"))[3], "Le chat  dort.");
  for (const std::string more :
       {"--batch 1", "--batch 2 --threads 1 --workers 2", "--beam 5 --batch-tokens 12"})
    EXPECT_EQ(lines_of(translate_with_memory(input, more)), lines) << more;
}

TEST_F(TranslatingWithMemory, AKnownLineHasNoPiecesBesideItsAlignmentAndIsPrintedAsText) {
  EXPECT_EQ(translate_with_memory("It is cold.\n", "--pieces --alignment"), "Il fait froid. ||| \n");
}

TEST_F(TranslatingWithMemory, JsonSaysWhichSegmentsWereUsed) {
  const Lines lines = lines_of(translate_with_memory("It is cold.\nA dog barks at the dog.\nstation\n",
                                                     "--format json --memory-at-least 0.5"));
  ASSERT_EQ(lines.size(), 3U);
  const auto known = nlohmann::json::parse(lines[0]), similar = nlohmann::json::parse(lines[1]),
             other = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(known["memory"].dump(),
            R"([{"exact":true,"similarity":1.0,"source":"It is cold.","target":"Il fait froid."}])");
  EXPECT_EQ(std::ranges::count(known["flags"], "memory"), 1);
  ASSERT_EQ(similar["memory"].size(), 1U);
  EXPECT_EQ(similar["memory"][0]["target"], "Un chien aboie.");
  EXPECT_NEAR(similar["memory"][0]["similarity"].get<double>(), 6.0 / 7, 1e-3);
  EXPECT_EQ(std::ranges::count(similar["flags"], "memory"), 0);
  EXPECT_TRUE(other["memory"].empty());
  EXPECT_EQ(translate("It is cold.\n", "--format json").find("\"memory\""), std::string::npos);
}

TEST_F(TranslatingWithMemory, DocumentsHaveOneToo) {
  const std::string page = write("page.html", "<p>It is cold.</p>\n<p>Where is it?</p>\n");
  run("translate -m " + folder_.path + " --max-length 20 --memory " + memory_ + " --document " + page +
      " --out " + file("page.fr.html"));
  EXPECT_TRUE(read_file(file("page.fr.html")).starts_with("<p>Il fait froid.</p>\n<p>"));
}

TEST_F(TranslatingWithMemory, WhatAnActionDoesNotTakeIsRefused) {
  const auto refused = [&](const std::string& arguments) {
    run("memory " + arguments + " --memory " + memory_, "", 2);
    return errors_;
  };
  EXPECT_NE(refused("look 'It is cold.'").find("--text is what to look for"), std::string::npos) << errors_;
  EXPECT_NE(refused("export mine.tmx").find("--out names the output"), std::string::npos) << errors_;
  const std::string pairs = " --source " + write("s", "a\n") + " --target " + write("t", "b\n");
  EXPECT_NE(refused("add --from fr --to en" + pairs).find("--from is fr, but the memory has en"),
            std::string::npos)
      << errors_;
  run("memory add --from en" + pairs + " --memory " + memory_);
  for (const std::string& arguments :
       {std::string("look --text a --from en"), std::string("export --to fr"), "verify --out " + file("x"),
        "add --format json" + pairs, "build --from en --to fr --out " + file("x") + pairs})
    EXPECT_NE(refused(arguments).find("has no effect on memory " + arguments.substr(0, arguments.find(' '))),
              std::string::npos)
        << errors_;
  EXPECT_FALSE(std::filesystem::exists(file("x")));
}

TEST_F(TranslatingWithMemory, AnEmptyTextIsLookedFor) {
  EXPECT_EQ(run("memory look --text '' --memory " + memory_, "It is cold.\n"), "nothing similar to \"\"\n");
}

TEST_F(TranslatingWithMemory, AnEvaluationMatchesAsTheModelSaysUnlessOptionsSayOtherwise) {
  auto config = nlohmann::json::parse(read_file(file("config.json")));
  config["search"] = {{"match-case", false}, {"max-length", 20}};
  write("config.json", config.dump());
  const std::string evaluate = "memory evaluate -m " + folder_.path + " --memory " + memory_ + " --source " +
                               write("source", "it is cold.\n") + " --reference " +
                               write("reference", "Il fait froid.\n") + " --format json";
  EXPECT_EQ(nlohmann::json::parse(run(evaluate))["all"]["exact"], 1);
  EXPECT_EQ(nlohmann::json::parse(run(evaluate + " --match-case"))["all"]["exact"], 0);
}

TEST_F(TranslatingWithMemory, LooksForLinesThatAreNotUtf8) {
  const std::string found = run("memory look --format json --memory " + memory_, "It is c\xe9ld.\n");
  EXPECT_EQ(nlohmann::json::parse(found)["text"], "It is c\uFFFDld.");
}

TEST_F(TranslatingWithMemory, AnExportFollowsALink) {
  write("target.tmx", "old");
  std::filesystem::create_symlink(file("target.tmx"), file("link.tmx"));
  run("memory export --memory " + memory_ + " --out " + file("link.tmx"));
  EXPECT_TRUE(std::filesystem::is_symlink(file("link.tmx")));
  EXPECT_EQ(read_file(file("target.tmx")), run("memory export --memory " + memory_ + " --out -"));
}

TEST_F(TranslatingWithMemory, WhatIsNoMemoryIsRefused) {
  run("translate -m " + folder_.path + " --memory " + folder_.path, "a\n", 1);
  EXPECT_NE(errors_.find("memory.json"), std::string::npos) << errors_;
}

// A model that does not say what it translates takes any memory, of the languages that the options name.
TEST_F(TranslatingWithMemory, OneOfOtherLanguagesIsRefused) {
  const std::string refused = "the memory " + memory_ + " is from en to fr, but the translation from ";
  const auto refuse = [&](const std::string& command, const std::string& languages) {
    EXPECT_EQ(run(command + " -m " + folder_.path + " --memory " + memory_, "It is cold.\n", 2), "");
    EXPECT_NE(errors_.find(refused + languages + ": give"), std::string::npos) << errors_;
  };
  const std::string lines = write("lines", "It is cold.\n"),
                    evaluate = "memory evaluate --source " + lines + " --reference " + lines;
  EXPECT_EQ(translate_with_memory("It is cold.\n", "--from en --to fr-CA"), "Il fait froid.\n");
  EXPECT_EQ(translate_with_memory("It is cold.\n", "--from eng_Latn"), "Il fait froid.\n");
  run("memory build --from en --to he --out " + file("hebrew") + " " + write("he.tsv", "It is cold.\tקר\n"));
  EXPECT_EQ(translate("It is cold.\n", "--memory " + file("hebrew") + " --to iw"), "קר\n")
      << "its code until 1989";
  refuse("translate --to de", "any to de");
  refuse("translate --from fr --to en", "fr to en");
  refuse(evaluate + " --to de", "any to de");
  auto config = nlohmann::json::parse(read_file(file("config.json")));
  config["recipe"]["data"].update({{"from", "en"}, {"to", "de"}});
  write("config.json", config.dump());
  refuse("translate", "en to de");
  refuse("translate --document " + write("page.html", "<p>It is cold.</p>") + " --out -", "en to de");
  refuse(evaluate, "en to de");
}

// Lines that come again are known then, in a copy: the memory stays as it is.
TEST_F(TranslatingWithMemory, AnEvaluatedMemoryMayGrow) {
  const std::string export_memory = "memory export --memory " + memory_, before = run(export_memory);
  std::string sources, references;
  for (int i = 0; i < 3; ++i) {
    sources += "Where is the dog?\nIt is cold.\n";
    references += "Où est le chien ?\nIl fait froid.\n";
  }
  const std::string evaluate = "memory evaluate -m " + folder_.path + " --memory " + memory_ + " --source " +
                               write("source", sources) + " --reference " + write("reference", references) +
                               " --format json";
  const auto fixed = nlohmann::json::parse(run(evaluate)),
             growing = nlohmann::json::parse(run(evaluate + " --growing"));
  EXPECT_EQ(fixed["all"]["lines"], 6);
  EXPECT_EQ(fixed["all"]["exact"], 3);
  EXPECT_EQ(growing["all"]["exact"], 5);
  EXPECT_EQ(growing["tenths"].size(), 6U);
  EXPECT_EQ(growing["tenths"][5]["memory"]["TER"], 0.0);
  EXPECT_EQ(run(export_memory), before);
  EXPECT_NE(run("memory evaluate -m " + folder_.path + " --memory " + memory_ + " --source " +
                file("source") + " --reference " + file("reference"))
                .find("all"),
            std::string::npos);
  run("memory evaluate --memory " + memory_ + " --source " + file("source"), "", 2);
}

}  // namespace
}  // namespace dragoman::internal
