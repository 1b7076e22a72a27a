// What a user sees of a model's attention: --alignment, --attention, and dragoman inspect.
#include <cmath>
#include <numeric>
#include <regex>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/translating_commands.h"
#include "base/error.h"
#include "text/unicode.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class AttentionCommands : public TranslatingCommands {
 protected:
  std::string inspect(const std::string& options, const std::string& input = "", int exit_code = 0) {
    return run("inspect --max-length 9 " + options + " --model " + folder_.path, input, exit_code);
  }
  static std::string dogs(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "the dog sleeps ";
    return text;
  }
};

TEST_F(AttentionCommands, PairsStandAfterTheText) {
  const std::string input = "The cat sleeps.\n\n  The  dog barks. \n";
  const Lines plain = lines_of(translate(input)), lines = lines_of(translate(input, "--alignment"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], " ||| ");
  for (const size_t i : {0, 2}) {
    ASSERT_TRUE(lines[i].starts_with(plain[i] + " ||| ")) << lines[i];
    const std::string pairs = lines[i].substr(plain[i].size() + 5);
    EXPECT_TRUE(std::regex_match(pairs, std::regex("([0-2]-\\d+ )*[0-2]-\\d+"))) << pairs;
  }
  std::string outputs;
  for (const std::string& line : plain) outputs += line + "\n";
  const Lines scores = lines_of(run("score --alignment --model " + folder_.path + " --source " +
                                    write("s", input) + " --target " + write("t", outputs)));
  ASSERT_EQ(scores.size(), 3U);
  for (const std::string& score : scores)
    EXPECT_TRUE(std::regex_match(score, std::regex("-[.0-9]+ \\|\\|\\| ([0-2]-\\d+ ?)*"))) << score;
  const Lines best = lines_of(translate("The cat sleeps.\n", "--nbest 2 --beam 2 --alignment"));
  for (const std::string& line : best)
    EXPECT_TRUE(std::regex_match(line, std::regex("0 \\|\\|\\| .* \\|\\|\\| -.* \\|\\|\\| [-0-9 ]+")))
        << line;
}

// The spans of both sides are of their texts, in code points; every word of the output that has a pair has one.
TEST_F(AttentionCommands, JsonHasPlacesAndTheMatrix) {
  const std::string input = "Là, the cat sleeps.";
  const auto object = json::parse(translate(input, "--format json --alignment --attention"));
  const std::u32string source = code_points(input), text = code_points(object["text"].get<std::string>());
  const auto words = split_words(source), target_words = split_words(text);
  EXPECT_EQ(object["alignment"].size(), target_words.size());
  for (const json& pair : object["alignment"]) {
    const auto word = [](const std::u32string& of, const json& span) {
      return std::u32string_view(of).substr(span[0], span[1].get<size_t>() - span[0].get<size_t>());
    };
    EXPECT_EQ(word(source, pair["source_span"]), words[pair["source"]]);
    EXPECT_EQ(word(text, pair["target_span"]), target_words[pair["target"]]);
  }
  ASSERT_EQ(object["attention"].size(), object["tokens"].size());
  for (size_t i = 0; i < object["tokens"].size(); ++i) {
    EXPECT_EQ(object["attention"][i]["first"], 0);
    const auto row = object["attention"][i]["weights"].get<std::vector<double>>();
    ASSERT_EQ(row.size(), object["source_tokens"].size());
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-3);
    const size_t best = object["tokens"][i]["source"];
    for (size_t s = 0; s + 1 < row.size(); ++s) EXPECT_LE(row[s], row[best]);
  }
  const auto without = json::parse(translate(input, "--format json"));
  EXPECT_FALSE(without.contains("alignment") || without.contains("attention") ||
               without.contains("source_tokens"));
  EXPECT_EQ(without["text"], object["text"]);
}

// Of a long line each token has the weights of its own part.
TEST_F(AttentionCommands, AttentionIsWithinParts) {
  std::string input;
  for (int i = 0; i < 12; ++i) input += "The cat sleeps. ";
  const auto object = json::parse(translate(input, "--format json --attention"));
  size_t first = 0;
  for (const json& row : object["attention"]) {
    EXPECT_LT(row["weights"].size(), 42U) << "40 pieces and an end mark";
    EXPECT_GE(row["first"], first);
    first = row["first"];
    EXPECT_LE(first + row["weights"].size(), object["source_tokens"].size());
    const auto weights = row["weights"].get<std::vector<double>>();
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-3);
  }
  EXPECT_GT(first, 40U) << "several parts";
}

TEST_F(AttentionCommands, WrongUseIsSaid) {
  translate("");
  const std::string model = "translate --model " + folder_.path;
  run(model + " --attention", "", 2);
  EXPECT_NE(errors_.find("--format json"), std::string::npos) << errors_;
  run(model + " --alignment --alignment-layer 9", "a\n", 2);
  EXPECT_NE(errors_.find("has 2 layers"), std::string::npos) << errors_;
  for (const std::string options :
       {" --alignment-layer 1", " --beam 1 --coverage-penalty 1", " --sample --coverage-penalty 1"}) {
    run(model + options, "", 2);
    EXPECT_NE(errors_.find("no effect"), std::string::npos) << errors_;
  }
  for (const std::string option : {"--layer 1", "--attention cross"}) {
    inspect(option + " --text 'A dog.' --format json", "", 2);
    EXPECT_NE(errors_.find("no effect without --format svg"), std::string::npos) << errors_;
  }
  inspect("--nbest 9 --text 'A dog.'", "", 2);
  EXPECT_NE(errors_.find("a beam of 5 finds at most 5"), std::string::npos) << errors_;
  inspect("--beam 2 --format json --text 'A dog.'");
  inspect("", "", 2);
  EXPECT_NE(errors_.find("--text"), std::string::npos) << errors_;
  inspect("-", "\n \n", 1);
  EXPECT_NE(errors_.find("no sentence"), std::string::npos) << errors_;
  inspect("-", dogs(100), 1);
  EXPECT_NE(errors_.find("is longer than 512 subwords"), std::string::npos) << errors_;
  run("inspect --model /nowhere --text a --out /nowhere/page.html", "", 1);
  EXPECT_EQ(errors_, "dragoman: cannot write /nowhere/page.html: No such file or directory\n")
      << "the work first";
}

TEST_F(AttentionCommands, ASentenceMayBeGivenInPlaceOfAFile) {
  const std::string wanted = inspect("--format json --text 'A dog.'", "");
  EXPECT_EQ(inspect("--format json 'A dog.'", ""), wanted);
  EXPECT_EQ(inspect("--format json A dog.", ""), wanted);
}

TEST_F(AttentionCommands, ALineWithoutWordsIsLeftOut) {
  const std::string invisible = "\u200B";
  const auto data = json::parse(inspect("--format json -", "A dog.\n\n" + invisible + "\nThe cat.\n"));
  EXPECT_EQ(data["sentences"].size(), 2U);
  EXPECT_NE(errors_.find("line 3 contains no words to inspect"), std::string::npos) << errors_;
  inspect("--format json -", invisible + "\n" + invisible + "\n", 1);
  EXPECT_NE(errors_.find("no sentence"), std::string::npos) << errors_;
  inspect("--format json --text '" + invisible + "'", "", 1);
  EXPECT_NE(errors_.find("contains no words to inspect"), std::string::npos) << errors_;
}

TEST_F(AttentionCommands, AFolderOfAnyNameIsInspected) {
  std::filesystem::create_symlink(folder_.path, file("m\xff"));
  const std::string data =
      run("inspect --max-length 9 --format json --text 'A dog.' --model " + file("m\xff"));
  EXPECT_EQ(json::parse(data)["model"], "m\uFFFD");
}

TEST_F(AttentionCommands, InspectTellsEverythingAsJson) {
  const auto data = json::parse(inspect("--format json -", "The cat sleeps.\n\nA dog.\n"));
  ASSERT_EQ(data["sentences"].size(), 2U);
  const json& first = data["sentences"][0];
  EXPECT_EQ(first["source"], "The cat sleeps.");
  EXPECT_EQ(first["target"], first["nbest"][0]["text"]);
  const size_t sources = first["source_tokens"].size(), said = first["said_tokens"].size();
  EXPECT_EQ(first["log_probabilities"].size(), said);
  EXPECT_EQ(first["read_tokens"].size(), said);
  const std::tuple<const char*, size_t, size_t, size_t> kinds[] = {
      {"encoder", 1, sources, sources}, {"decoder", 2, said, said}, {"cross", 2, said, sources}};
  for (const auto& [kind, layers, rows, columns] : kinds) {
    const json& attention = first["attention"][kind];
    ASSERT_EQ(attention.size(), layers) << kind;
    for (const json& heads : attention) {
      ASSERT_EQ(heads.size(), 2U);
      for (const json& head : heads) {
        ASSERT_EQ(head.size(), rows) << kind;
        for (const json& row : head) {
          ASSERT_EQ(row.size(), columns) << kind;
          const auto weights = row.get<std::vector<double>>();
          EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-3);
        }
      }
    }
  }
}

// Training left it out, and translating would split it.
TEST_F(AttentionCommands, InspectDrawsASentenceLongerThanThoseOfTraining) {
  const auto data = json::parse(inspect("--format json -", dogs(8) + "\n"))["sentences"][0];
  const size_t sources = data["source_tokens"].size();
  EXPECT_GT(sources, 41U) << "40 pieces and an end mark";
  EXPECT_EQ(data["attention"]["encoder"][0][0].size(), sources);
  EXPECT_EQ(data["attention"]["cross"][0][0][0].size(), sources);
  EXPECT_EQ(data["nbest"][0]["text"], data["target"]);
}

// The same numbers as translate's, and those of a translation that the model did not choose.
TEST_F(AttentionCommands, InspectAgreesWithTranslateAndScore) {
  const auto own = json::parse(inspect("--format json --text 'A dog.'"))["sentences"][0];
  const auto line = json::parse(
      run("translate --max-length 9 --format json --alignment --model " + folder_.path, "A dog.\n"));
  EXPECT_EQ(own["target"], line["text"]);
  EXPECT_NEAR(own["nbest"][0]["score"], line["score"], 1e-6);
  for (size_t i = 0; i < line["tokens"].size(); ++i)
    EXPECT_NEAR(own["log_probabilities"][i], line["tokens"][i]["log_probability"], 1e-6);
  for (size_t i = 0; i < line["alignment"].size(); ++i)
    EXPECT_EQ(own["alignment"][i][0], line["alignment"][i]["source"]);

  const auto given = json::parse(inspect("--format json --text 'A dog.' --target 'the cat'"))["sentences"][0];
  EXPECT_EQ(given["target"], "the cat");
  const auto log_p = given["log_probabilities"].get<std::vector<double>>();
  const std::string score = run("score --model " + folder_.path + " --source " + write("s", "A dog.\n") +
                                " --target " + write("t", "the cat\n"));
  EXPECT_NEAR(std::accumulate(log_p.begin(), log_p.end(), 0.0), std::stod(score), 1e-4);
}

TEST_F(AttentionCommands, FiguresShowTheHeadsOfALayer) {
  const std::string svg = inspect("--format svg --attention encoder --text 'A dog.'");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_NE(svg.find("Encoder self-attention, layer 1 of 1"), std::string::npos);
  EXPECT_NE(svg.find(">head 2<"), std::string::npos);
  EXPECT_NE(svg, inspect("--format svg --text 'A dog.'"));
  inspect("--format svg --layer 9 --text 'A dog.'", "", 1);
  inspect("--format svg -", "A dog.\n", 2);
}

// A model with learned positions has none for more tokens than these.
TEST_F(WholeRun, InspectDrawsNoMoreThanAModelHasPositionsFor) {
  learn_from_text(100);
  recipe_.data.max_length = 20;
  recipe_.model.positions = Positions::learned;
  recipe_.model.max_positions = 40;
  recipe_.training.max_steps = 1;
  train("run");
  const auto sources = [&](int words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += "ka ";
    testing::internal::CaptureStdout();
    inspect({"--model", folder_.path("run"), "--format", "json", "--text", text});
    return json::parse(testing::internal::GetCapturedStdout())["sentences"][0]["source_tokens"].size();
  };
  EXPECT_GT(sources(25), 21U);
  EXPECT_THROW(sources(60), Error);
  testing::internal::GetCapturedStdout();
}

TEST_F(AttentionCommands, AllFiguresAreWrittenToAFolder) {
  const std::string folder = file("figures"), all = "--format svg --attention all --layer 0 --text 'A dog.'";
  EXPECT_EQ(lines_of(inspect(all + " --out " + folder)).size(), 5U) << "of 1 + 2 + 2 layers";
  EXPECT_EQ(read_file(folder + "/cross-2.svg"), inspect("--format svg --layer 2 --text 'A dog.'"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/encoder-1.svg"));
  inspect(all, "", 2);
  EXPECT_NE(errors_.find("name a folder"), std::string::npos) << errors_;
}

// The page's colours are those of the figures.
TEST_F(AttentionCommands, InspectsPageIsWholeAndTakesTextAsText) {
  const std::string page = inspect("--out - --text 'The </script><script>alert(1)</script> cat'");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("\\u003cscript>alert"), std::string::npos);
  EXPECT_EQ(page.find("/* data */"), std::string::npos);
  EXPECT_NE(page.find("class HeatMap"), std::string::npos);
  EXPECT_NE(page.find("\"colours\":[\"#440154\""), std::string::npos);
  for (const char* outside : {"src=", "@import", "url(http", "<link", "fetch("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(inspect("--out " + file("page.html") + " --text 'A dog.'"), file("page.html") + "\n");
  EXPECT_TRUE(read_file(file("page.html")).starts_with("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace dragoman::internal
