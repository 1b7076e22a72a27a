// A language model from a text to its uses: trained, resumed, scored, continued, fused with a translation model, and in
// a list of translations that is ranked anew.
#include <cmath>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/translating_commands.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

class LanguageModelCommands : public TranslatingCommands {
 protected:
  // Words of the translation model, so that both have the same vocabulary.
  LanguageModelCommands() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += i % 3 == 0 ? "The dog barks.\n" : "The cat sleeps at home.\n";
    write("text.txt", text);
    write("valid.txt", "The cat barks.\n\nThe dog sleeps.\n");
    write("lm.toml", fmt::format(R"(
      [data]
      text = ["{}"]
      valid_text = ["{}"]
      [vocabulary]
      from = "{}"
      [model]
      kind = "language_model"
      decoder_layers = 1
      d_model = 16
      heads = 2
      d_ff = 16
      [training]
      batch_tokens = 100
      schedule = "constant"
      learning_rate = 0.01
      threads = 1
      [validation]
      every = 10
    )",
                                 file("text.txt"), file("valid.txt"), folder_.path));
  }

  void train(const std::string& out, int steps) {
    run(fmt::format("train {} --out {} --training.max_steps {}", file("lm.toml"), file(out), steps));
  }

  nlohmann::json last_validation(const std::string& out) const {
    nlohmann::json last;
    std::istringstream lines(read_file(file(out + "/metrics.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line);
      if (event.at("event") == "validation") last = event;
    }
    return last;
  }

  std::string generate(const std::string& input, const std::string& more = "") {
    return run("generate --model " + file("lm") + " --max-length 8 " + more, input);
  }
};

TEST_F(LanguageModelCommands, IsTrainedAndResumedToTheBit) {
  train("whole", 20);
  train("parts", 10);
  train("parts", 20);
  EXPECT_EQ(read_file(file("parts/model.safetensors")), read_file(file("whole/model.safetensors")));
  EXPECT_LT(last_validation("whole").at("loss"), 3);
  EXPECT_NE(run("info " + file("whole")).find("continues"), std::string::npos);
}

// The perplexity of the validation is that of its lines, and of all of them together.
TEST_F(LanguageModelCommands, ScoresAreThoseOfItsValidation) {
  train("lm", 20);
  write("lines", "The cat barks.\nThe dog sleeps.\n");
  double sum = 0;
  for (const std::string& line : lines_of(run("score -m " + file("lm") + " --target " + file("lines"))))
    sum += std::stod(line);
  const std::string summary = run("score --summary -m " + file("lm") + " --target " + file("lines"));
  const double perplexity = std::stod(summary.substr(std::string("perplexity ").size()));
  EXPECT_NEAR(std::log(perplexity), last_validation("lm").at("loss"), 1e-4) << summary;
  EXPECT_NE(summary.find(fmt::format("log-probability {:.3f}", sum)), std::string::npos) << summary << sum;
  EXPECT_NE(summary.find("8 words"), std::string::npos) << summary;  // six, and two ends
}

TEST_F(LanguageModelCommands, TextsGoOnWhateverIsBesideThem) {
  train("lm", 20);
  const std::string texts = "The cat\nThe\n\nThe dog barks\n";
  for (const char* how : {"", "--beam 3", "--temperature 2 --seed 7 --top-p 1"}) {
    const Lines together = lines_of(generate(texts, how)), given = lines_of(texts);
    ASSERT_EQ(together.size(), given.size()) << how;
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_TRUE(together[i].starts_with(given[i])) << how << ": " << together[i];
      EXPECT_EQ(lines_of(generate(given[i] + "\n", how))[0], together[i]) << how;
    }
  }
  EXPECT_NE(generate(texts, "--seed 1 --temperature 3 --top-p 1"),
            generate(texts, "--seed 2 --temperature 3 --top-p 1"));
  EXPECT_EQ(lines_of(generate("The\n", "--beam 3 --nbest 3")).size(), 3U);
  EXPECT_EQ(generate("The cat\n", "--text ''"), generate("\n"));
}

TEST_F(LanguageModelCommands, EachKindOfModelHasItsCommands) {
  train("lm", 1);
  run("translate -m " + file("lm"), "The cat\n", 2);
  EXPECT_NE(errors_.find("dragoman generate"), std::string::npos) << errors_;
  run("generate -m " + folder_.path, "The cat\n", 2);
  EXPECT_NE(errors_.find("dragoman translate"), std::string::npos) << errors_;
  run("generate -m " + file("lm") + " --replace-unknown", "The cat\n", 2);
  run("translate -m " + folder_.path + " -m " + file("lm"), "The cat\n", 2);
  EXPECT_NE(errors_.find("--language-model"), std::string::npos) << errors_;
  std::string long_text;
  for (int i = 0; i < 1500; ++i) long_text += "The cat ";
  run("generate -m " + file("lm"), long_text + "\n", 2);
  EXPECT_NE(errors_.find("2000"), std::string::npos) << errors_;
  write("page.html", "<p>The cat</p>");
  run("translate -m " + file("lm") + " --document " + file("page.html") + " --out -", "", 2);
  EXPECT_NE(errors_.find("documents"), std::string::npos) << errors_;
  run("score -m " + folder_.path + " --target " + file("text.txt"), "", 2);
  run("score -m " + file("lm") + " --source " + file("text.txt") + " --target " + file("text.txt"), "", 2);
  run("train " + file("lm.toml") + " --out " + file("no") +
          " --training.max_steps 1 --model.kind translation",
      "", 2);
  EXPECT_NE(errors_.find("data.text"), std::string::npos) << errors_;
}

TEST_F(LanguageModelCommands, FusionAddsWhatTheLanguageModelSays) {
  train("lm", 20);
  const std::string source = "The cat sleeps.\nA dog barks at the cat.\n";
  const auto fused = [&](double weight, const std::string& more) {
    return translate(
        source, fmt::format("--language-model {} --language-model-weight {} {}", file("lm"), weight, more));
  };
  EXPECT_EQ(fused(0, "--nbest 3"), translate(source, "--nbest 3"));
  EXPECT_EQ(fused(0.7, "--batch 1"), fused(0.7, "--batch 4"));
  EXPECT_NE(fused(0.7, "--nbest 3"), fused(0, "--nbest 3"));
  run("translate -m " + folder_.path + " --language-model " + folder_.path, source, 2);
  EXPECT_NE(errors_.find("no language model"), std::string::npos) << errors_;
}

TEST_F(LanguageModelCommands, ListsAreRankedAnew) {
  train("lm", 20);
  write("source", "The cat sleeps.\nA dog barks.\n");
  write("nbest",
        "0 ||| sleeps cat The ||| -1.0\n0 ||| The cat sleeps at home. ||| -1.5\n"
        "1 ||| The dog barks. ||| -2.0\n1 ||| barks barks barks ||| -1.0\n");
  const std::string rerank = "rerank --nbest " + file("nbest");
  EXPECT_EQ(run(rerank), "sleeps cat The\nbarks barks barks\n");
  const std::string by_model = rerank + " --language-model " + file("lm");
  EXPECT_EQ(run(by_model + " --language-model-weight 1"), "The cat sleeps at home.\nThe dog barks.\n");
  write("reference", "The cat sleeps at home.\nThe dog barks.\n");
  EXPECT_EQ(run(by_model + " --tune " + file("reference")), "The cat sleeps at home.\nThe dog barks.\n");
  EXPECT_NE(errors_.find("--language-model-weight"), std::string::npos) << errors_;
}

TEST_F(LanguageModelCommands, ListsAreReadWhateverTheirTextsAre) {
  const std::string rerank = "rerank --nbest " + file("nbest");
  write("nbest",
        "0 ||| a ||| b ||| -2.0\n0 |||  ||| -3.0\n1 ||| c ||| 4 ||| -1 ||| 0-0\n1 ||| d ||| -2 ||| \n");
  EXPECT_EQ(run(rerank), "a ||| b\nc ||| 4\n");
  for (const char* damaged : {"18446744073709551615 ||| a ||| -1\n", "0 ||| no score\n", "0\n",
                              "0 ||| \xff ||| -1\n", "1 ||| a ||| -1\n", "0 ||| a ||| nan\n"}) {
    write("nbest", damaged);
    run(rerank, "", 1);
    EXPECT_NE(errors_.find("nbest:1"), std::string::npos) << damaged << errors_;
  }
}

TEST_F(LanguageModelCommands, RerankingRefusesWhatHasNoEffect) {
  write("nbest", "0 ||| a ||| -2.0\n");
  const std::string rerank = "rerank --nbest " + file("nbest");
  for (const char* weight : {" --backward-weight 1", " --language-model-weight 1"}) {
    run(rerank + weight, "", 2);
    EXPECT_NE(errors_.find("has no effect without"), std::string::npos) << errors_;
  }
  write("reference", "a\n");
  run(rerank + " --tune " + file("reference") + " --length-weight 1", "", 2);
  EXPECT_NE(errors_.find("--tune finds the weights"), std::string::npos) << errors_;
  run(rerank + " --backward " + folder_.path, "", 2);
  EXPECT_NE(errors_.find("--source"), std::string::npos) << errors_;
}

TEST_F(LanguageModelCommands, TheMinimumLengthIsOfWhatIsNew) {
  train("lm", 20);
  const auto tokens = [&](const std::string& more) {
    const auto made = nlohmann::json::parse(
        run("generate --model " + file("lm") + " --format json --beam 1 --max-length 6 " + more,
            "The cat sleeps\n"));
    return made.at("tokens").size();
  };
  const size_t given = tokens("--max-length 1") - 1;
  EXPECT_EQ(tokens("--min-length 6"), given + 6);
}

TEST_F(LanguageModelCommands, ScoresSayWhatTheyRepairedAndLeftOut) {
  train("lm", 5);
  const std::string score = "score --model " + file("lm") + " --target " +
                            write("text", "The cat \xff sleeps.\nThe cat sleeps at home, the dog barks.\n");
  EXPECT_EQ(lines_of(run(score)).size(), 2U);
  EXPECT_NE(errors_.find("1 of 2 lines were not valid UTF-8"), std::string::npos) << errors_;
  run(score + " --summary --max-length 5");
  EXPECT_NE(errors_.find("were not scored"), std::string::npos) << errors_;
  EXPECT_EQ(errors_.find("nan"), std::string::npos) << errors_;
}

TEST_F(LanguageModelCommands, HasNoShortlist) {
  run("prepare " + file("lm.toml") + " --out " + file("prepared") + " --shortlist 10 --training.max_steps 1",
      "", 2);
  EXPECT_NE(errors_.find("--shortlist"), std::string::npos) << errors_;
}

}  // namespace
}  // namespace dragoman::internal
