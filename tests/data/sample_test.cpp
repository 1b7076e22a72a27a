// The sample of its training text that a model's folder keeps.
#include "data/sample.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class Sample : public testing::Test {
 protected:
  Sample() {
    std::string lines;
    for (int i = 0; i < 200; ++i)
      lines += "number " + std::to_string(i) + "\tnombre " + std::to_string(i) + "\n";
    DataConfig data;
    data.tsv = {folder.write("corpus.tsv", lines)};
    VocabularyConfig vocabulary;
    vocabulary.size = 60;
    corpus = prepare_corpus(data, vocabulary, folder.path("prepared"), 1);
  }

  std::string sampled(int64_t pairs) {
    write_sample(corpus, pairs, folder.path("."));
    return read_file(sample_path(folder.path(".")));
  }

  const TemporaryFolder folder;
  PreparedCorpus corpus;
};

TEST_F(Sample, IsPairsOfTheWholeCorpus) {
  const std::string lines = sampled(20);
  EXPECT_EQ(20, std::ranges::count(lines, '\n'));
  EXPECT_EQ(0u, lines.find("number "));
  for (const char* tens : {"number 1", "number 5", "number 9", "number 15", "number 19"})
    EXPECT_NE(lines.find(tens), std::string::npos) << tens;
  const size_t tab = lines.find('\t'), end = lines.find('\n');
  EXPECT_EQ(lines.substr(7, tab - 7), lines.substr(tab + 8, end - tab - 8)) << "of the same pair";
}

TEST_F(Sample, HasNoMorePairsThanAreWanted) {
  for (const int64_t pairs : {199, 150, 101, 67, 3, 1}) {
    const auto lines = std::ranges::count(sampled(pairs), '\n');
    EXPECT_LE(lines, pairs);
    EXPECT_GE(2 * lines, pairs);
  }
}

TEST_F(Sample, IsTheSameAgain) {
  const std::string lines = sampled(20);
  const auto written = std::filesystem::last_write_time(sample_path(folder.path(".")));
  EXPECT_EQ(lines, sampled(20));
  EXPECT_EQ(written, std::filesystem::last_write_time(sample_path(folder.path("."))));
}

TEST_F(Sample, HasNoSourcesWithTermsAmongThem) {
  DataConfig data;
  data.tsv = {folder.path("corpus.tsv")};
  data.terms = folder.write("terms.tsv", "number\tnombre\n");
  data.terms_share = 0.5;
  corpus = prepare_corpus(data, {.size = 90, .shared = true}, folder.path("with-terms"), 1);
  const std::string lines = sampled(200);
  EXPECT_GT(std::ranges::count(lines, '\n'), 60);
  EXPECT_LT(std::ranges::count(lines, '\n'), 140);
  EXPECT_EQ(lines.find("nombre"), lines.find("\tnombre") + 1) << lines.substr(0, 200);
  EXPECT_EQ(lines.find("number nombre"), std::string::npos);
}

TEST_F(Sample, IsNoneWhereNobodyWantsIt) {
  sampled(20);
  write_sample(corpus, 0, folder.path("."));
  EXPECT_FALSE(std::filesystem::exists(sample_path(folder.path("."))));
}

TEST_F(Sample, ThePairsThatTheModelHasNotSeenAreEvenlyFromTheValidationSet) {
  std::vector<TextPair> validation;
  for (int i = 0; i < 3000; ++i) validation.push_back({"v " + std::to_string(i), "w " + std::to_string(i)});
  validation.push_back({"a\ttab", "w"});
  validation.push_back({"nothing", ""});
  const std::string path = unseen_path(folder.path("."));
  write_unseen(validation, folder.path("."));
  const std::string lines = read_file(path);
  EXPECT_EQ(1000, std::ranges::count(lines, '\n'));
  for (const char* pair : {"v 0\tw 0\n", "v 1500\tw 1500\n", "v 2997\tw 2997\n"})
    EXPECT_NE(lines.find(pair), std::string::npos) << pair;
  EXPECT_EQ(lines.find("a\ttab"), std::string::npos);
  write_unseen({}, folder.path("."));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace dragoman::internal
