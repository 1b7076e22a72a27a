// dragoman translate, score, evaluate and info, as a user meets them: the program itself, on a small model.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/translating_commands.h"
#include "base/memory.h"
#include "search/shortlist.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

TEST_F(TranslatingCommands, ALineOfOutputForEachLineOfInput) {
  const std::string input = "The cat sleeps.\n\nb\xff d\n \nWhere is the cat?\r\nno line end";
  const Lines lines = lines_of(translate(input));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_NE(errors_.find("1 of 6 lines were not valid UTF-8"), std::string::npos) << errors_;
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[3], "");
  EXPECT_FALSE(lines[0].empty());
  for (const std::string options : {"--batch 1", "--batch 2 --threads 1", "--batch-tokens 12 --threads 2"})
    EXPECT_EQ(lines_of(translate(input, options)), lines) << options;
  const std::string one = write("one", "The cat sleeps.\n\n"), two = write("two", "Where is the cat?\n");
  EXPECT_EQ(lines_of(translate("", one + " " + two)), (Lines{lines[0], "", lines[4]}));
  EXPECT_EQ(translate(""), "");
}

TEST_F(TranslatingCommands, JsonTellsScoresAndFlags) {
  const Lines lines =
      lines_of(translate("The cat sleeps.\n\n\xff\nThe Ω.\n", "--format json --nbest 2 --beam 3"));
  ASSERT_EQ(lines.size(), 4U);
  const auto first = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(first["source"], "The cat sleeps.");
  ASSERT_FALSE(first["nbest"].empty());
  EXPECT_EQ(first["nbest"][0]["text"], first["text"]);
  EXPECT_EQ(first["nbest"][0]["score"], first["score"]);
  EXPECT_LT(first["tokens"][0]["log_probability"].get<double>(), 0);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "");
  const auto has_flag = [&](size_t line, const char* flag) {
    const auto object = nlohmann::json::parse(lines[line]);
    return std::ranges::count(object["flags"], flag) == 1;
  };
  EXPECT_EQ(errors_.find("were cut"), std::string::npos) << errors_;
  EXPECT_TRUE(has_flag(2, "invalid"));
  EXPECT_TRUE(has_flag(3, "unknown"));
  EXPECT_FALSE(has_flag(0, "invalid") || has_flag(0, "unknown"));
}

// Where the lines themselves do not say it.
TEST_F(TranslatingCommands, TextMayBeGivenInPlaceOfAFile) {
  const std::string wanted = translate("The cat sleeps.\nIt is cold.\n");
  EXPECT_EQ(translate("", "--text 'The cat sleeps.\nIt is cold.'"), wanted);
  EXPECT_EQ(translate("It is cold.\n", "--text ''"), "\n");
  EXPECT_EQ(translate("", "'The cat sleeps.' 'It is cold.'"), wanted);
  EXPECT_EQ(translate("", "cold"), translate("cold\n"));
  EXPECT_EQ(translate("", "The cat sleeps."), translate("The cat sleeps.\n"));
  const std::string prefix = "--prefix " + write("prefix", "A dog\n");
  EXPECT_EQ(translate("", "'The cat sleeps.' " + prefix), translate("The cat sleeps.\n", prefix));
  const std::string model = "translate -m " + folder_.path + " ";
  run(model + "no.txt", "", 1);
  EXPECT_EQ(errors_, "dragoman: cannot read no.txt: No such file or directory\n")
      << "a path with a mistake in it";
  run(model + "'It is.' " + write("text", "a\n"), "", 2);
  EXPECT_NE(errors_.find("\"It is.\": give one or the other"), std::string::npos) << errors_;
  run(model + "--text a " + file("text"), "", 2);
}

TEST_F(TranslatingCommands, ADocumentIsNotReadAsLinesInSilence) {
  const std::string model = "translate -m " + folder_.path + " ";
  run(model + write("page.html", "<p>a</p>\n"));
  EXPECT_NE(errors_.find("--document " + file("page.html")), std::string::npos) << errors_;
  run(model + write("lines.txt", "a\n"));
  EXPECT_EQ(errors_.find("--document"), std::string::npos) << errors_;
  EXPECT_EQ(run(model + write("letter", "PK\3\4..."), "", 2), "");
  EXPECT_NE(errors_.find("--document " + file("letter")), std::string::npos) << errors_;
}

TEST_F(TranslatingCommands, AWrongModelFolderGetsASuggestion) {
  const std::string parent = folder_.path + "/..";
  run("translate -m " + parent + "/modle a", "", 1);
  EXPECT_NE(errors_.find("did you mean " + parent + "/model?"), std::string::npos) << errors_;
  write("recipe.toml", "");
  run("translate -m " + file("recipe") + " a", "", 1);
  EXPECT_NE(errors_.find("dragoman train " + file("recipe") + ".toml"), std::string::npos) << errors_;
  run("translate -m opus-mt-en-xy a", "", 1);
  EXPECT_NE(errors_.find("dragoman get opus-mt-en-xy"), std::string::npos) << errors_;
  run("translate -m " + parent + " a", "", 1);
  EXPECT_NE(errors_.find("did you mean " + parent + "/model?"), std::string::npos) << errors_;
  std::filesystem::create_directories(file("other"));
  write("other/model.bin", "");
  for (const char* config : {"", "{}"}) {
    if (*config != 0) write("other/config.json", config);
    run("translate -m " + file("other") + " a", "", 1);
    EXPECT_NE(errors_.find("dragoman import " + file("other")), std::string::npos) << errors_;
  }
}

TEST_F(TranslatingCommands, AWarningSaysHowManyLinesWereCut) {
  const std::string input = "The cat sleeps.\n\nIt is cold.\n";
  int64_t cut = 0, repeats = 0;
  const auto count = [&](const std::string& options) {
    cut = repeats = 0;
    for (const std::string& line : lines_of(translate(input, options + " --format json"))) {
      const auto object = nlohmann::json::parse(line);
      cut += std::ranges::count(object["flags"], "cut");
      repeats += std::ranges::count(object["flags"], "repeats");
    }
  };
  for (const std::string options : {"--max-length 1", "--max-length 300 --max-length-ratio 0 --beam 1"}) {
    count(options);
    EXPECT_GT(cut + repeats, 0) << options;
    translate(input, options);
    for (const auto& [lines, what] : {std::pair(cut, "were cut"), std::pair(repeats, "looped")})
      EXPECT_EQ(errors_.find(fmt::format("{} of 3 lines {}", lines, what)) != errors_.npos, lines > 0)
          << options << ": " << errors_;
  }
  translate("\n");
  EXPECT_EQ(errors_, "") << "nothing was";
}

TEST_F(TranslatingCommands, AWarningSaysHowManyLinesHaveUnknownCharacters) {
  const std::string known = "The cat sleeps.\n", both = known + "The Ω.\nΩ\n";
  translate(known);
  EXPECT_EQ(errors_.find("vocabulary"), errors_.npos) << errors_;
  translate(both);
  EXPECT_NE(errors_.find("warning: 2 of 3 lines have characters that are not in the vocabulary"),
            errors_.npos)
      << errors_;
  translate(both, "--format json");
  EXPECT_EQ(errors_, "") << "each line has its flags";
}

TEST_F(TranslatingCommands, AlternativesPiecesPrefixesAndSamples) {
  const Lines best = lines_of(translate("The cat sleeps.\nIt is cold.\n", "--nbest 3"));
  ASSERT_GE(best.size(), 4U);
  EXPECT_TRUE(best[0].starts_with("0 ||| "));
  EXPECT_TRUE(best.back().starts_with("1 ||| "));
  EXPECT_NE(translate("The cat sleeps.\n", "--pieces").find("▁"), std::string::npos);
  const std::string prefixes = write("prefixes", "A dog\n\n");
  EXPECT_TRUE(translate("The cat sleeps.\nIt is cold.\n", "--prefix " + prefixes).starts_with("A dog"));
  run("translate --prefix " + prefixes + " --model " + folder_.path, "a\nb\nc\n", 1);
  EXPECT_NE(errors_.find("has only 2 lines"), std::string::npos) << errors_;
  const std::string one = run("translate --prefix " + prefixes + " --model " + folder_.path, "a\n", 1);
  EXPECT_NE(errors_.find("more lines than the 1 that were translated"), std::string::npos) << errors_;
  EXPECT_EQ(lines_of(one).size(), 1U) << "what was translated is not lost";
  const std::string repaired_prefix = write("prefixes", "A \xef\xbf\xbd\n"),
                    wanted = translate("It is cold.\n", "--prefix " + repaired_prefix);
  EXPECT_EQ(translate("It is cold.\n", "--prefix " + write("prefixes", "A \xff\n")), wanted);
  EXPECT_NE(errors_.find(file("prefixes") + ": 1 of 1 lines were not valid UTF-8"), std::string::npos)
      << errors_;
  const std::string sampled = translate("The cat sleeps.\n", "--sample --seed 4");
  EXPECT_EQ(translate("The cat sleeps.\n", "--sample --seed 4"), sampled);
  EXPECT_NE(translate("The cat sleeps.\n", "--sample --seed 5"), sampled);
}

TEST_F(TranslatingCommands, TermsOfAGlossaryComeOut) {
  const std::string input = "The cat sleeps.\nIt is cold.\n", plain = translate(input);
  const std::string glossary = write("terms.tsv", "source\ttarget\ncat\tdog barks\n");
  const std::vector<std::string> lines = lines_of(translate(input, "--glossary " + glossary));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("dog barks"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1], lines_of(plain)[1]);
  const std::string missing = write("missing.tsv", "cat\tЖ\n");
  EXPECT_EQ(translate(input, "--glossary " + missing), plain);
  EXPECT_NE(errors_.find("1 of 2 lines are missing a glossary term"), std::string::npos) << errors_;
  EXPECT_NE(translate(input, "--format json --glossary " + missing).find("\"terms_missed\""),
            std::string::npos);
  run("translate --glossary " + write("bad.tsv", "cat\n") + " --model " + folder_.path, input, 1);
  EXPECT_NE(errors_.find("bad.tsv:1: needs a source"), std::string::npos) << errors_;
  run("translate --glossary - --model " + folder_.path, input, 2);
  EXPECT_NE(errors_.find("--glossary must name a file"), std::string::npos) << errors_;
}

TEST_F(TranslatingCommands, ShortlistsEnsemblesAndFavouredPrefixes) {
  const std::string input = "The cat sleeps.\nIt is cold.\n", plain = translate(input);
  run("translate --shortlist --model " + folder_.path, input, 1);
  EXPECT_NE(errors_.find("has no shortlist: dragoman prepare"), std::string::npos) << errors_;
  run("translate --always-allow x --model " + folder_.path, input, 2);
  EXPECT_NE(errors_.find("no effect"), std::string::npos) << errors_;
  run("translate --shortlist --always-allow - --model " + folder_.path, input, 2);
  EXPECT_NE(errors_.find("always-allow must be a file"), std::string::npos) << errors_;
  const Vocabularies words = read_vocabularies(folder_.path);
  const auto size = static_cast<size_t>(words.source->size());
  write_shortlist(folder_.path,
                  {.frequent = {}, .translations = std::vector<std::vector<int32_t>>(size, {7})}, words);
  const std::string listed = translate(input, "--min-length 5 --shortlist");
  EXPECT_NE(listed, translate(input, "--min-length 5"));
  const std::string mine = write("mine", "dog home sleeps\n");
  EXPECT_NE(translate(input, "--min-length 5 --shortlist --always-allow " + mine), listed);
  const std::string both = folder_.path + "," + folder_.path;
  EXPECT_EQ(run("translate --max-length 20 --model " + both, input), plain);
  run("translate --model " + folder_.path + ",/nowhere", input, 1);
  EXPECT_NE(errors_.find("/nowhere"), std::string::npos) << errors_;
  const std::string prefixes = write("prefixes", "A dog\n\n");
  const std::string sure = translate(input, "--prefix-bias 0.9999 --prefix " + prefixes);
  EXPECT_TRUE(sure.starts_with("A dog")) << sure;
  EXPECT_FALSE(translate(input, "--prefix-bias 0.000001 --prefix " + prefixes).starts_with("A dog"));
  run("translate --prefix-bias 0.5 --model " + folder_.path, input, 2);
  EXPECT_NE(errors_.find("--prefix FILE"), std::string::npos) << errors_;
}

// A megabyte of one sentence, many sentences, and bytes of every kind; the line behind them is what it is alone.
TEST_F(TranslatingCommands, ALongLineIsALine) {
  const ModelFolder words("words", 200, true, {.kind = PieceKind::words, .size = 45, .shared = true});
  std::string endless, sentences, bytes;
  while (endless.size() < 1'000'000) endless += "the cat sleeps ";
  while (sentences.size() < 20'000) sentences += "The cat sleeps. ";
  for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>(i * 7 % 256);
  std::ranges::replace(bytes, '\n', '\0');
  const std::string last = "It is cold.\n", input = endless + "\n" + sentences + "\n" + bytes + "\n" + last;
  const auto translated = [&](const std::string& text) {
    return lines_of(run("translate --beam 1 --max-length 3 --format json --model " + words.path, text));
  };
  const Lines lines = translated(input);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[3], translated(last)[0]);
  const auto check = [&](size_t line, const std::string& source, bool invalid) {
    const auto object = nlohmann::json::parse(lines[line]);
    EXPECT_TRUE(object["source"] == source) << line;
    EXPECT_FALSE(object["tokens"].empty()) << line;
    EXPECT_EQ(std::ranges::count(object["flags"], "invalid"), invalid) << line;
    return object["flags"];
  };
  EXPECT_EQ(std::ranges::count(check(0, endless, false), "cut"), 1);
  check(1, sentences, false);
  EXPECT_EQ(std::ranges::count(check(2, repaired(bytes), true), "unknown"), 1);
}

TEST_F(TranslatingCommands, WrongUseIsSaid) {
  run("translate", "", 2);
  EXPECT_NE(errors_.find("--model"), std::string::npos);
  run("translate --model " + folder_.path + " --beam 2 --nbest 3", "", 2);
  EXPECT_EQ(errors_,
            "dragoman: the command line: nbest is 3, but a beam of 2 finds at most 2: widen the beam\n");
  run("translate --model " + folder_.path + " --top-k 3", "", 2);
  EXPECT_NE(errors_.find("no effect"), std::string::npos);
  for (const std::string useless :
       {"translate --pieces --format json", "translate --penalty-form plain --length-penalty 0",
        "evaluate --source x --reference x --nbest 2"}) {
    run(useless + " --model " + folder_.path, "", 2);
    EXPECT_NE(errors_.find("no effect"), std::string::npos) << errors_;
  }
  run("translate --prefix - --model " + folder_.path, "a\nb\n", 2);
  EXPECT_NE(errors_.find("--prefix must name a file"), std::string::npos) << errors_;
  for (const char* command :
       {"translate --model /nowhere", "info /nowhere", "quantize --model /nowhere --out x"}) {
    run(command, "", 1);
    EXPECT_EQ(errors_, "dragoman: there is no model folder /nowhere: check the path\n") << command;
  }
  std::filesystem::remove(file("shared.spm"));
  run("translate --model " + folder_.path, "", 1);
  EXPECT_NE(errors_.find("has no vocabulary"), std::string::npos) << errors_;
}

// The score of what was translated is the sum of its log-probabilities, where the text is cut into the same pieces.
TEST_F(TranslatingCommands, ScoreAgreesWithTranslate) {
  const Vocabularies words = read_vocabularies(folder_.path);
  std::string sources, targets;
  std::vector<double> wanted;
  const std::string options = "--format json --length-penalty 0 --beam 20 --nbest 20 --max-length 4";
  for (const std::string& line : lines_of(translate("The cat sleeps.\nA dog barks.\n\n", options))) {
    const auto object = nlohmann::json::parse(line);
    for (const auto& said : object["nbest"]) {
      const auto text = said["text"].get<std::string>();
      std::vector<int32_t> ids;
      for (const auto& token : said["tokens"])
        ids.push_back(words.target->id(token["piece"].get<std::string>()));
      if (words.target->encode(text) != ids || object["source"] == "") continue;
      sources += object["source"].get<std::string>() + "\n", targets += text + "\n";
      wanted.push_back(said["score"]);
    }
  }
  EXPECT_GT(wanted.size(), 5U);
  const Lines scores =
      lines_of(run("score --model " + folder_.path + " --source " + write("source", sources + "\n") +
                   " --target " + write("target", targets + "\n")));
  ASSERT_EQ(scores.size(), wanted.size() + 1);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(std::stod(scores[i]), wanted[i], 1e-3);
  EXPECT_LT(std::stod(scores.back()), 0) << "of two empty lines";
  run("score --model " + folder_.path + " --source " + file("source") + " --target " + write("short", "a\n"),
      "", 1);
  EXPECT_NE(errors_.find(" lines, but"), std::string::npos) << errors_;
  run("score --source - --target - --model " + folder_.path, "a\n", 2);
  EXPECT_NE(errors_.find("cannot be several files"), std::string::npos) << errors_;
}

TEST_F(TranslatingCommands, ScoreAndEvaluateReadWhatTranslateReads) {
  for (const std::string command : {"score --target ", "evaluate --max-length 20 --reference "}) {
    const auto printed = [&](const std::string& mark) {
      const std::string first = write("first", "The cat" + mark + " sleeps.\nIt is cold.\n"),
                        second = write("second", "A dog.\nThe" + mark + " cat\n");
      return run(command + second + " --source " + first + " --model " + folder_.path);
    };
    const std::string wanted = printed("\xef\xbf\xbd");
    EXPECT_EQ(errors_, "") << command;
    EXPECT_EQ(printed("\xff"), wanted) << command;
    for (const std::string name : {"first", "second"})
      EXPECT_NE(errors_.find(file(name) + ": 1 of 2 lines were not valid UTF-8"), std::string::npos)
          << errors_;
  }
}

// Each has its own line, and those beside it are scored as they are alone.
TEST_F(TranslatingCommands, APairThatIsTooLongIsNotScored) {
  std::string endless;
  while (endless.size() < 600) endless += "The cat sleeps. ";
  const auto scores = [&](const std::string& sources, const std::string& targets, const std::string& more) {
    return lines_of(run("score --model " + folder_.path + " --source " + write("source", sources) +
                        " --target " + write("target", targets) + more));
  };
  const Lines alone = scores("The cat sleeps.\nIt is cold.\n", "A dog.\nWhere is it?\n", "");
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(errors_, "");
  const std::string sources = "The cat sleeps.\n" + endless + "\nIt is cold.\ncat\n",
                    targets = "A dog.\ncat\nWhere is it?\n" + endless + "\n";
  EXPECT_EQ(scores(sources, targets, " --max-length 99"), (Lines{alone[0], "nan", alone[1], "nan"}));
  EXPECT_NE(errors_.find("2 pairs with a side of more than 99 subwords"), std::string::npos) << errors_;
  for (const std::string& line : scores(sources, targets, "")) EXPECT_NE(line, "nan");
}

TEST_F(TranslatingCommands, ScoringTakesMemoryForABatchAlone) {
#if defined(DRAGOMAN_ADDRESS_SANITIZER) || defined(DRAGOMAN_THREAD_SANITIZER)
  GTEST_SKIP() << "a sanitizer keeps what is given back";
#endif
  std::string line;
  for (int i = 0; i < 450; ++i) line += "cat ";
  const auto peak = [&](size_t pairs) {
    std::string text;
    for (size_t i = 0; i < pairs; ++i) text += line + "\n";
    const std::string both = write("both", text);
    forget_peak_memory();
    testing::internal::CaptureStdout();
    score({"--model", folder_.path, "--alignment", "--source", both, "--target", both});
    EXPECT_EQ(lines_of(testing::internal::GetCapturedStdout()).size(), pairs);
    return peak_memory();
  };
  const int64_t one = peak(1);
  EXPECT_LT(peak(30), one + (int64_t{100} << 20));
}

TEST_F(TranslatingCommands, AFolderThatCannotBeMadeIsNamedBeforeTheWork) {
  const std::string wrong = file("config.json") + "/x";
  for (const std::string command : {"quantize --model /nowhere", "average /nowhere"}) {
    run(command + " --out " + wrong, "", 1);
    EXPECT_EQ(errors_, "dragoman: cannot write into the folder " + wrong + ": Not a directory\n") << command;
  }
}

TEST_F(TranslatingCommands, EvaluateComparesWithReferences) {
  const std::string sources = "The cat sleeps.\nA dog barks at the cat and at the other cat.\n";
  const std::string perfect = write("perfect", translate(sources)), source = write("source", sources);
  const std::string options = "evaluate --model " + folder_.path + " --max-length 20 --source " + source;
  const std::string scores = run(options + " --reference " + perfect + " --by-length");
  EXPECT_TRUE(scores.starts_with("BLEU|nrefs:1|")) << scores;
  EXPECT_NE(scores.find("\nchrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.x = 100.00\n"),
            std::string::npos)
      << scores;
  EXPECT_NE(scores.find("\n0 to 5                   1"), std::string::npos) << scores;
  EXPECT_NE(scores.find("\n11 to 20                 1"), std::string::npos) << scores;
  const auto parsed =
      nlohmann::json::parse(run(options + " --reference " + perfect + " --by-length --format json"));
  ASSERT_EQ(parsed.size(), 3U);
  ASSERT_EQ(parsed[2]["rows"].size(), 2U);
  const auto& longer = parsed[2]["rows"][1];
  EXPECT_EQ(longer["from"], 11);
  EXPECT_EQ(longer["to"], 20);
  EXPECT_EQ(longer["sentences"], 1);
  EXPECT_EQ(longer["chrF2"], 100.0);
  EXPECT_EQ(longer["ratio"], 1.0);
  const std::string from_input = "evaluate --model " + folder_.path + " --max-length 20 --by-length";
  EXPECT_EQ(run(from_input + " --source - --reference " + perfect, sources), scores);
  run(options + " --reference " + write("short", "a\n"), "", 1);
  EXPECT_NE(errors_.find("has 2 lines, but"), std::string::npos) << errors_;
}

TEST_F(TranslatingCommands, InfoShowsWhatAFolderHolds) {
  const std::string text = run("info " + folder_.path);
  for (const char* part :
       {"parameters", "shared", "[model]", "d_model                 20", "[data]", "max_length"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  run("info /nowhere", "", 1);
}

}  // namespace
}  // namespace dragoman::internal
