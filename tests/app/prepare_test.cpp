// dragoman prepare as a user meets it.
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "app/show_pairs.h"
#include "base/files.h"
#include "search/shortlist.h"
#include "text/special_ids.h"

namespace dragoman::internal {
namespace {

class Prepare : public testing::Test {
 protected:
  Prepare() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream source(folder + "/source"), target(folder + "/target");
    for (int i = 0; i < 200; ++i) {
      source << "the cat number " << i << " sleeps\n";
      target << "le chat numéro " << i << " dort\n";
    }
    source << "no translation\n";
    target << "\n";
    std::ofstream(folder + "/toy.toml")
        << "[data]\nsource = \"" << folder << "/source\"\ntarget = \"" << folder
        << "/target\"\n[vocabulary]\nsize = 60\n[training]\nmax_steps = 1\n";
  }
  ~Prepare() override { std::filesystem::remove_all(folder); }

  int run(const std::string& arguments, const std::string& recipe = "toy.toml",
          const std::string& input = "/dev/null") {
    const std::string command = std::string(DRAGOMAN_PROGRAM) + " prepare " + folder + "/" + recipe +
                                " --out " + folder + "/model " + arguments + " <" + input + " >" + folder +
                                "/out 2>" + folder + "/err";
    const int status = std::system(command.c_str());
    output = read_file(folder + "/out");
    errors = read_file(folder + "/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }

  const std::string folder = testing::TempDir() + "prepare";
  std::string output, errors;
};

// Linux allows any bytes in the name of a file; JSON, which records it, does not.
TEST_F(Prepare, NamesOfFilesNeedNotBeUtf8) {
  const std::string source = folder + "/source-\xe9";
  std::filesystem::copy_file(folder + "/source", source);
  for (const char* steps : {"1", "2"}) {  // the second run resumes the first
    const std::string command = std::string(DRAGOMAN_PROGRAM) + " train " + folder +
                                "/toy.toml --model.d_model 32 --out " + folder + "/model --data.source " +
                                source + " --training.max_steps " + steps + " >" + folder + "/out 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder + "/out");
  }
}

TEST_F(Prepare, ShowsCountsLengthsAndPadding) {
  ASSERT_EQ(run(""), 0) << errors;
  EXPECT_TRUE(says("pairs read           201\n")) << output;
  EXPECT_TRUE(says("  kept               200\n")) << output;
  EXPECT_TRUE(says("  left out             1   empty\n")) << output;
  EXPECT_TRUE(says("if sorted by length")) << output;
  EXPECT_FALSE(says("input")) << output;
  ASSERT_EQ(run(""), 0);
  EXPECT_NE(errors.find("is up to date: 200 pairs"), std::string::npos) << errors;
}

TEST_F(Prepare, ShowsDecoderInputAndOutput) {
  ASSERT_EQ(run("--show 3"), 0) << errors;
  size_t pairs = 0;
  for (size_t at = 0; (at = output.find("\npair ", at)) != std::string::npos; ++at) ++pairs;
  EXPECT_EQ(pairs, 3U);
  EXPECT_TRUE(says("  input   <s>")) << output;
  EXPECT_TRUE(says("</s>\n")) << output;
}

// The lexicon's tables are indexed with the ids of the shards.
TEST_F(Prepare, DamagedShardsAreFoundBeforeTheShortlistIsLearned) {
  ASSERT_EQ(run(""), 0) << errors;
  const std::string shard = folder + "/model/data/shard-000", whole = read_file(shard);
  std::string damaged = whole;
  damaged.replace(64, 2, "\xff\xff");                        // an id
  damaged.replace(whole.size() - 8, 4, "\xff\xff\xff\x7f");  // a length
  write_file(shard, {damaged});
  ASSERT_EQ(run("--shortlist 5 --training.threads 16"), 0) << errors;
  EXPECT_NE(errors.find("shard-000 is damaged"), std::string::npos) << errors;
  EXPECT_EQ(read_file(shard), whole);
}

TEST_F(Prepare, ReportsErrors) {
  std::ofstream(folder + "/source", std::ios::app) << "one more\n";
  EXPECT_EQ(run(""), 1);
  EXPECT_NE(errors.find("has 202 lines, but"), std::string::npos) << errors;
  EXPECT_EQ(run("--data.max_length 0"), 2);
  EXPECT_EQ(run("--data.source ''"), 2);
}

TEST_F(Prepare, LearnsAShortlist) {
  ASSERT_EQ(run("--shortlist 5"), 0) << errors;
  const Vocabularies words = read_vocabularies(folder + "/model/data");
  const Shortlist list = Shortlist::read(folder + "/model", words);
  const std::vector<int32_t> allowed = list.words_for(words.source->encode("the cat sleeps"), {});
  for (const int32_t id : words.target->encode("le chat dort"))
    EXPECT_TRUE(std::ranges::count(allowed, id)) << words.target->piece(id);
}

TEST_F(Prepare, ReadsACorpusFromStandardInput) {
  const std::string rest = "[vocabulary]\nsize = 60\n[training]\nmax_steps = 1\n";
  std::ofstream(folder + "/input.toml") << "[data]\ntsv = \"-\"\n" << rest;
  std::ofstream(folder + "/file.toml") << "[data]\ntsv = \"" << folder << "/pairs\"\n" << rest;
  std::ofstream pairs(folder + "/pairs");
  for (int i = 0; i < 300; ++i) pairs << "the cat " << i << "\tle chat " << i << "\r\n";
  pairs.close();
  ASSERT_EQ(run("", "file.toml"), 0) << errors;
  const std::string counts = output, pieces = read_file(folder + "/model/data/source.spm");
  ASSERT_EQ(run("", "input.toml", folder + "/pairs"), 0) << errors;
  EXPECT_EQ(output, counts);
  EXPECT_EQ(read_file(folder + "/model/data/source.spm"), pieces);
  EXPECT_FALSE(std::filesystem::exists(folder + "/model/data/standard-input"));
  ASSERT_EQ(run("", "input.toml"), 0) << "what is prepared is not read again";
  EXPECT_EQ(output, counts);
  EXPECT_NE(errors.find("standard input is not read again"), std::string::npos) << errors;
  EXPECT_EQ(run("--vocabulary.size 50", "input.toml"), 1) << "other settings, and nothing to read";
  EXPECT_NE(errors.find("there is no line in"), std::string::npos) << errors;
  EXPECT_EQ(run("--data.tsv -,-", "input.toml", folder + "/pairs"), 2);
  EXPECT_NE(errors.find("data.tsv names standard input (-) a second time"), std::string::npos) << errors;
  EXPECT_EQ(run("--data.valid_source - --data.valid_target " + folder + "/target", "input.toml"), 2);
  EXPECT_NE(errors.find("data.valid_source names standard input (-)"), std::string::npos) << errors;
}

TEST_F(Prepare, RefusesAPipeInsteadOfWaitingForItsSecondReading) {
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(run("--data.source " + folder + "/pipe"), 2);
  EXPECT_NE(errors.find("data.source names the pipe " + folder + "/pipe"), std::string::npos) << errors;
  EXPECT_EQ(run("--data.valid_source " + folder + "/pipe --data.valid_target " + folder + "/pipe"), 2);
  EXPECT_NE(errors.find("data.valid_source names the pipe " + folder + "/pipe, but is read again"),
            std::string::npos)
      << errors;
}

// A vocabulary of whole words makes the table's columns plain to see.
TEST(ShowPair, AlignsInputAndOutput) {
  const std::vector<std::string> lines = {"ein langes Wort", "a b"};
  const auto open = [&]() -> Sentences {
    return [&lines, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    };
  };
  const auto words =
      std::make_shared<const Vocabulary>(learn_vocabulary({.kind = PieceKind::words}, open, "shared"));
  Batch batch;
  batch.pairs = {7};
  std::vector<int32_t> ids = words->encode("a b");
  batch.source.add(ids.data(), ids.data() + ids.size());
  ids = words->encode("ein langes Wort");
  batch.targets = ids;
  batch.targets.push_back(eos_id);
  ids.insert(ids.begin(), bos_id);
  batch.target_input.add(ids.data(), ids.data() + ids.size());
  std::ostringstream wide, narrow;
  show_pair(batch, 0, {words, words}, 100, wide);
  EXPECT_EQ(wide.str(),
            "\npair 7\n"
            "  source  ▁a  ▁b\n"
            "  input   <s>   ▁ein     ▁langes  ▁Wort\n"
            "  target  ▁ein  ▁langes  ▁Wort    </s>\n");
  show_pair(batch, 0, {words, words}, 28, narrow);
  EXPECT_EQ(narrow.str(),
            "\npair 7\n"
            "  source  ▁a  ▁b\n"
            "  input   <s>   ▁ein\n"
            "  target  ▁ein  ▁langes\n"
            "  input   ▁langes  ▁Wort\n"
            "  target  ▁Wort    </s>\n");
}

}  // namespace
}  // namespace dragoman::internal
