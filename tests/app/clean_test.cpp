// dragoman clean, translate --choose-by and evaluate --noise, as a user meets them.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

TEST_F(TranslatingCommands, CleanWritesWhatItKeepsAndCountsTheRest) {
  const std::string source = write("raw.a", "He sleeps.\nHe is 37.\n\nHe sleeps.\nIt is cold.\n");
  const std::string target = write("raw.b", "Il dort.\nIl a 36 ans.\nRien.\nIl dort.\nIl fait\tfroid.\n");
  const std::string files = "clean --source " + source + " --target " + target;
  EXPECT_EQ(run(files + " --show-dropped 1 --report " + file("report")),
            "He sleeps.\tIl dort.\nIt is cold.\tIl fait froid.\n");
  const auto report = nlohmann::json::parse(read_file(file("report")));
  EXPECT_EQ(report["read"], 5);
  EXPECT_EQ(report["kept"], 2);
  for (const char* reason : {"numbers", "empty", "duplicate"})
    EXPECT_EQ(report["dropped"][reason], 1) << reason;
  EXPECT_EQ(report["examples"]["numbers"][0]["pair"], 2);
  EXPECT_NE(errors_.find("left out: 1 with different numbers"), errors_.npos) << errors_;

  const std::string out = " --out-source " + file("kept.a") + " --out-target " + file("kept.b");
  EXPECT_EQ(run(files + out), "");
  EXPECT_EQ(read_file(file("kept.b")), "Il dort.\nIl fait\tfroid.\n");
  run(files + " --numbers false" + out + " --duplicates none");
  EXPECT_EQ(lines_of(read_file(file("kept.a"))).size(), 4U);
  write("raw.b", "Il dort.\n");
  run(files + out, "", 1);  // leaves what was there, and no part
  EXPECT_EQ(lines_of(read_file(file("kept.a"))).size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(file("kept.a.dragoman-new")));
}

// A pair that is a duplicate by one side does not make the other side a duplicate.
TEST_F(TranslatingCommands, CleanKeepsATranslationOfEachSentence) {
  const std::string files = "clean --source " + write("raw.a", "He sleeps.\nHe is asleep.\nHe is asleep.\n") +
                            " --target " + write("raw.b", "Il dort.\nIl dort.\nIl est endormi.\n");
  EXPECT_EQ(run(files + " --duplicates either"), "He sleeps.\tIl dort.\nHe is asleep.\tIl est endormi.\n");
}

TEST_F(TranslatingCommands, CleanRefusesWhatDoesNotFit) {
  const std::string text = write("text", "a\n"), files = "clean --source " + text + " --target " + text;
  for (const std::string& wrong :
       {std::string("clean"), files + " --out-source x", files + " --out-source " + text + " --out-target y",
        files + " --min-score -3", files + " --detector x", files + " --report x.gz",
        files + " --max-ratio 0.5", files + " --device cpu", files + " --precision fp32",
        files + " --out-source a --out-target ./a", files + " --out-source a --out-target b --report b"}) {
    run(wrong, "", 2);
    EXPECT_EQ(lines_of(errors_).size(), 1U) << errors_;
  }
}

TEST_F(TranslatingCommands, CleanAsksAModel) {
  const std::string text = write("text", "The cat sleeps.\nIt is a cold day.\n");
  const std::string command = "clean --source " + text + " --target " + text +
                              " --copy-words 0 --score-model " + folder_.path + " --min-score ";
  EXPECT_EQ(lines_of(run(command + "-1000")).size(), 2U);
  EXPECT_EQ(run(command + "-0.0001"), "");
  EXPECT_NE(errors_.find("2 that the model finds unlikely"), errors_.npos) << errors_;
}

TEST_F(TranslatingCommands, ChooseByPrintsTheHypothesisNearestToTheReference) {
  const std::string input = "The cat sleeps.\nWhere is the cat?\n", nbest = " --nbest 4 --beam 4";
  Lines listed = lines_of(translate(input, nbest)), wanted;
  for (const char* number : {"0 ||| ", "1 ||| "}) {
    std::string last;
    for (const std::string& line : listed)
      if (line.starts_with(number)) last = line.substr(6, line.rfind(" ||| ") - 6);
    wanted.push_back(last);  // the worst, which is nearest to itself
  }
  const std::string choose = nbest + " --choose-by " + write("wanted", wanted[0] + "\n" + wanted[1] + "\n");
  EXPECT_EQ(lines_of(translate(input, choose)), wanted);
  const Lines json = lines_of(translate(input, choose + " --format json"));
  EXPECT_EQ(nlohmann::json::parse(json.at(1))["text"], wanted[1]);
  const std::string model = "translate --model " + folder_.path + choose;
  run(model, input + "One more.\n", 1);
  EXPECT_NE(errors_.find("has only 2 lines"), errors_.npos) << errors_;
  run(model, "The cat sleeps.\n", 1);
  EXPECT_NE(errors_.find("more lines than the 1"), errors_.npos) << errors_;
  run("translate --model " + folder_.path + " --choose-by " + file("wanted"), input, 2);
}

TEST_F(TranslatingCommands, EvaluateChangesTheTestSetByNoise) {
  const std::string files = " --source " + write("source", "The cat sleeps in the garden.\n") +
                            " --reference " + write("reference", "Le chat dort dans le jardin.\n");
  const auto evaluate = [&](const std::string& more) {
    return run("evaluate --model " + folder_.path + " --max-length 20 --chrf-word-order 0" + files + more);
  };
  EXPECT_EQ(evaluate(" --noise none"), evaluate(""));
  EXPECT_NE(evaluate(" --noise upper"), evaluate(""));
  EXPECT_EQ(evaluate(" --noise typos"), evaluate(" --noise typos"));
  EXPECT_NE(evaluate(" --noise tags"), evaluate(""));
}

}  // namespace
}  // namespace dragoman::internal
