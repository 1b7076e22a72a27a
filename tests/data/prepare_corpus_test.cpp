#include "data/prepare_corpus.h"

#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/corpora.h"
#include "data/encode_corpus.h"
#include "data/encoded_pairs.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& file : fs::directory_iterator(folder)) {
    files[file.path().filename().string()] = read_file(file.path().string());
  }
  return files;
}

void expect_all_counted(const CorpusCounts& counts, int64_t read) {
  EXPECT_EQ(counts.read, read);
  EXPECT_EQ(counts.kept + counts.held_out + counts.left_out.total(), read);
}

class PrepareTest : public testing::Test {
 protected:
  PreparedCorpus prepared(const DataConfig& data, int threads = 2) {
    return prepare_corpus(data, vocabulary, folder.path("data"), threads);
  }
  std::string error_of(const DataConfig& data) {
    try {
      prepared(data);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder;
  ToyText text = toy_text(500);
  VocabularyConfig vocabulary = toy_vocabulary();
};

TEST_F(PrepareTest, EveryPairIsEncoded) {
  const PreparedCorpus corpus = prepared(toy_data(folder, text));
  expect_all_counted(corpus.counts, 500);
  EXPECT_EQ(corpus.counts.kept, 500);
  const auto pairs = pairs_of(corpus);
  ASSERT_EQ(pairs.size(), 500U);
  int64_t source_tokens = 0;
  std::map<size_t, int64_t> lengths;
  for (const auto& [index, pair] : pairs) {
    ++lengths[pair.target.size()];
    EXPECT_EQ(corpus.vocabularies.source->decode(pair.source), text.source_lines[index]);
    EXPECT_EQ(corpus.vocabularies.target->decode(pair.target), text.target_lines[index]);
    source_tokens += static_cast<int64_t>(pair.source.size());
  }
  EXPECT_EQ(corpus.counts.source_tokens, source_tokens);
  EXPECT_EQ(corpus.report["source"]["vocabulary"], corpus.vocabularies.source->size());
  EXPECT_EQ(corpus.report["target_lengths"], nlohmann::json(std::vector(lengths.begin(), lengths.end())));
}

TEST_F(PrepareTest, LeftOutPairsAreCountedByReason) {
  text.source +=
      "\nka\nlo\nka\n" + text.source_lines[0] + text.source_lines[1] + text.source_lines[2] + "\n \n";
  text.target +=
      "ka\n\n\xFF\n" + text.target_lines[0] + text.target_lines[0] + text.target_lines[0] + "\nka\nka\n";
  DataConfig data = toy_data(folder, text);
  const auto all = pairs_of(prepared(data));
  data.max_length = 20;
  data.max_ratio = 1.5;
  const PreparedCorpus corpus = prepared(data);
  expect_all_counted(corpus.counts, 506);
  int64_t too_long = 0, ratio = 0;
  for (const auto& [index, pair] : all) {
    const auto longer = static_cast<double>(std::max(pair.source.size(), pair.target.size()));
    const auto shorter = static_cast<double>(std::min(pair.source.size(), pair.target.size()));
    too_long += longer > 20;
    ratio += longer <= 20 && longer > 1.5 * shorter;
  }
  EXPECT_GT(too_long, 0);
  EXPECT_GT(ratio, 0);
  EXPECT_EQ(corpus.counts.left_out.too_long, too_long);
  EXPECT_EQ(corpus.counts.left_out.ratio, ratio);
  EXPECT_EQ(corpus.counts.left_out.empty, 3);
  EXPECT_EQ(corpus.counts.left_out.invalid, 1);
  EXPECT_EQ(corpus.report["pairs"]["left_out"]["empty"], 3);
}

TEST_F(PrepareTest, BytesDoNotDependOnThreads) {
  DataConfig data = toy_data(folder, text);
  data.hold_out = 20;
  prepared(data, 1);
  const auto one = files_of(folder.path("data"));
  fs::remove_all(folder.path("data"));
  prepared(data, 3);
  EXPECT_EQ(files_of(folder.path("data")), one);
}

TEST_F(PrepareTest, HeldOutPairsAreDeterministicAndNotTrainedOn) {
  DataConfig data = toy_data(folder, text);
  data.hold_out = 50;
  const PreparedCorpus corpus = prepared(data);
  expect_all_counted(corpus.counts, 500);
  EXPECT_EQ(corpus.counts.held_out, 50);
  const auto pairs = pairs_of(corpus);
  std::vector<std::string> missing;
  for (uint64_t i = 0; i < 500; ++i) {
    if (pairs.count(i) == 0) missing.push_back(text.source_lines[i] + "|" + text.target_lines[i]);
  }
  std::vector<std::string> held_out;
  for (const TextPair& pair : validation_pairs(data, folder.path("data"))) {
    held_out.push_back(pair.source + "|" + pair.target);
  }
  EXPECT_EQ(held_out, missing);
  data.hold_out = 500;
  EXPECT_NE(error_of(data).find("data.hold_out is 500, but the corpus has only 500 pairs"),
            std::string::npos);
}

TEST_F(PrepareTest, UnchangedCorporaAreReused) {
  DataConfig data = toy_data(folder, text);
  EXPECT_FALSE(prepared(data).was_there);
  const auto files = files_of(folder.path("data"));
  const PreparedCorpus again = prepared(data);
  EXPECT_TRUE(again.was_there);
  EXPECT_EQ(files_of(folder.path("data")), files);
  EXPECT_EQ(pairs_of(again).size(), 500U);
  data.order = SourceOrder::consecutive;  // chooses among what is prepared
  vocabulary.sampling = 0.1;
  EXPECT_TRUE(prepared(data).was_there);
  data.max_length = 30;
  EXPECT_FALSE(prepared(data).was_there);
  EXPECT_TRUE(prepared(data).was_there);
  vocabulary.size = 50;
  EXPECT_FALSE(prepared(data).was_there);
  folder.write("toy.source", text.source + "ka\n");
  folder.write("toy.target", text.target + "ka\n");
  EXPECT_FALSE(prepared(data).was_there);
}

TEST_F(PrepareTest, DamagedCorporaArePreparedAgain) {
  const DataConfig data = toy_data(folder, text);
  prepared(data);
  const auto files = files_of(folder.path("data"));
  for (const auto& [name, contents] : files) {
    const std::string path = "data/" + name;
    folder.write(path, contents.substr(0, contents.size() / 2));
    EXPECT_FALSE(prepared(data).was_there) << name;
    EXPECT_EQ(files_of(folder.path("data")), files);
    fs::remove(folder.path(path));
    if (name == "prepared.json") fs::remove_all(folder.path("data"));
    EXPECT_FALSE(prepared(data).was_there) << name;
    EXPECT_EQ(files_of(folder.path("data")), files);
  }
}

// Damage that changes no file's size.
TEST_F(PrepareTest, AChangedIdOrRecordIsDamage) {
  const DataConfig data = toy_data(folder, text);
  prepared(data);
  const std::string whole = read_file(folder.path("data/shard-000"));
  for (const size_t at :
       {size_t{70}, whole.size() - 8, whole.size() - 24}) {  // an id, a length, a pair's number
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    folder.write("data/shard-000", damaged);
    try {
      prepared_corpus(folder.path("data"), 16);
      ADD_FAILURE() << at;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("shard-000 is damaged"), std::string::npos);
    }
    EXPECT_FALSE(prepared(data).was_there) << at;
    EXPECT_EQ(read_file(folder.path("data/shard-000")), whole);
  }
}

TEST_F(PrepareTest, AManifestThatDoesNotFitTheShardsIsDamage) {
  const DataConfig data = toy_data(folder, text);
  prepared(data);
  const auto whole = nlohmann::json::parse(read_file(folder.path("data/prepared.json")));
  const auto error_with = [&](const std::string& place, const nlohmann::json& value) -> std::string {
    nlohmann::json damaged = whole;
    damaged[nlohmann::json::json_pointer(place)] = value;
    folder.write("data/prepared.json", damaged.dump());
    try {
      prepared_corpus(folder.path("data"), 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_with("/shards", 1), "no error");
  for (const auto& [place, value] : std::multimap<std::string, nlohmann::json>{{"/shards", 0},
                                                                               {"/shards", -1},
                                                                               {"/shards", 2},
                                                                               {"/shards", "one"},
                                                                               {"/source_begins", {0, 499}},
                                                                               {"/source_begins", {500, 0}},
                                                                               {"/source_begins", {0, "x"}},
                                                                               {"/source_begins", {500}},
                                                                               {"/report/pairs/kept", 499}})
    EXPECT_NE(error_with(place, value), "no error") << place << " " << value;
}

TEST_F(PrepareTest, FailureKeepsTheOldCorpus) {
  DataConfig data = toy_data(folder, text);
  prepared(data);
  const auto files = files_of(folder.path("data"));
  DataConfig uneven = data;
  uneven.target = {folder.write("short", "ka\n")};
  EXPECT_NE(error_of(uneven).find("has 500 lines"), std::string::npos);
  EXPECT_EQ(files_of(folder.path("data")), files);
  EXPECT_FALSE(fs::exists(folder.path("data.dragoman-new")));
  EXPECT_TRUE(prepared(data).was_there);
}

TEST_F(PrepareTest, SurvivesLeftoversOfACrash) {
  const DataConfig data = toy_data(folder, text);
  fs::create_directories(folder.path("data.dragoman-new/deep"));
  fs::create_directories(folder.path("data.dragoman-old"));
  folder.write("data.dragoman-new/shard-000", "half");
  EXPECT_FALSE(prepared(data).was_there);
  EXPECT_FALSE(fs::exists(folder.path("data.dragoman-new")));
  EXPECT_FALSE(fs::exists(folder.path("data/deep")));
}

TEST_F(PrepareTest, DoesNotOverwriteOtherFolders) {
  fs::create_directory(folder.path("data"));
  folder.write("data/thesis.txt", "years of work");
  EXPECT_NE(error_of(toy_data(folder, text)).find("contains other files"), std::string::npos);
  EXPECT_EQ(read_file(folder.path("data/thesis.txt")), "years of work");
}

TEST_F(PrepareTest, ConcurrentProcessesTakeTurns) {
  const DataConfig data = toy_data(folder, text);
  bool were_there[2];
  {
    std::jthread one([&] { were_there[0] = prepared(data, 1).was_there; });
    std::jthread two([&] { were_there[1] = prepared(data, 1).was_there; });
  }
  EXPECT_NE(were_there[0], were_there[1]);
}

TEST_F(PrepareTest, SwappedSidesAreSwappedEverywhere) {
  DataConfig data = toy_data(folder, text);
  data.valid_source = data.source;
  data.valid_target = data.target;
  data.swap = true;
  const auto pairs = pairs_of(prepared(data));
  const PreparedCorpus corpus = prepared(data);
  EXPECT_EQ(corpus.vocabularies.source->decode(pairs.at(3).source), text.target_lines[3]);
  EXPECT_EQ(validation_pairs(data, folder.path("data"))[3].source, text.target_lines[3]);
}

TEST_F(PrepareTest, VocabulariesCanBeSharedOrReused) {
  vocabulary.shared = true;
  const std::string model = prepared(toy_data(folder, text)).vocabularies.source->model();
  VocabularyConfig other = {.size = 8000, .from = folder.path("data")};
  const PreparedCorpus corpus =
      prepare_corpus(toy_data(folder, toy_text(50), "b"), other, folder.path("other"), 1);
  EXPECT_TRUE(corpus.vocabularies.shared());
  EXPECT_EQ(corpus.vocabularies.target->model(), model);
}

// Each line has a unique character, so the characters in the vocabulary show which lines it was learned from.
class VocabularySample : public PrepareTest {
 protected:
  VocabularySample() {
    vocabulary.kind = PieceKind::characters;
    vocabulary.character_coverage = 1;
    vocabulary.size = 1000;
    text = {};
    for (int i = 0; i < 500; ++i) {
      text.source += "ka " + own_character(i) + "\n";
      text.target += "ka\n";
    }
  }
  static std::string own_character(int line) {
    const int c = 0x4E00 + line;
    return {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  }
  std::vector<int> lines_known(const PreparedCorpus& corpus) {
    std::vector<int> known;
    for (int i = 0; i < 500; ++i) {
      if (corpus.vocabularies.source->id(own_character(i)) != unknown_id) known.push_back(i);
    }
    return known;
  }
};

TEST_F(VocabularySample, ASampleIsEven) {
  vocabulary.learn_from = 100;
  const std::vector<int> known = lines_known(prepared(toy_data(folder, text)));
  EXPECT_EQ(known.size(), 100U);
  EXPECT_NEAR(known[50], 250, 60);
  vocabulary.learn_from = 500;
  EXPECT_EQ(lines_known(prepared(toy_data(folder, text))).size(), 500U);
}

TEST_F(VocabularySample, HeldOutPairsAreNotInIt) {
  DataConfig data = toy_data(folder, text);
  data.hold_out = 50;
  const PreparedCorpus corpus = prepared(data);
  const std::vector<int> known = lines_known(corpus);
  const auto pairs = pairs_of(corpus);
  EXPECT_EQ(known.size(), 450U);
  for (const int line : known) EXPECT_EQ(pairs.count(static_cast<uint64_t>(line)), 1U);
}

TEST_F(PrepareTest, ShardsHaveTheirShareOfEachSource) {
  DataConfig data = toy_data(folder, text, "one");
  const DataConfig second = toy_data(folder, toy_text(120, 12, 2), "two");
  data.source.push_back(second.source[0]);
  data.target.push_back(second.target[0]);
  const PreparedCorpus whole = prepared(data);
  EXPECT_EQ(whole.source_begins, (std::vector<uint64_t>{0, 500, 620}));
  Preparation work;
  const Survey survey = survey_corpus(data, work);
  const auto result = encode_corpus(data, whole.vocabularies, survey, folder.path(""), 7, 2, work, 100);
  ASSERT_EQ(result.shards, 7);
  PreparedCorpus corpus;
  for (int64_t i = 0; i < result.shards; ++i) {
    corpus.shards.emplace_back(shard_path(folder.path(""), i), 7, VocabularySizes{60, 60});
    const auto records = corpus.shards.back().pairs();
    const auto of_first =
        std::count_if(records.begin(), records.end(), [](const auto& r) { return r.pair < 500; });
    EXPECT_NEAR(static_cast<double>(of_first), 500.0 / 7, 1);
    EXPECT_NEAR(static_cast<double>(records.size()), 620.0 / 7, 1);
  }
  EXPECT_EQ(pairs_of(corpus).size(), 620U);
}

TEST_F(PrepareTest, AMegabyteInALineIsTooLong) {
  std::string megabyte;
  while (megabyte.size() < (1 << 20)) megabyte += "kalo ";
  text.source += megabyte + "\n" + std::string(1 << 20, 'k') + "\n" + std::string(1 << 20, 'x') + "\n";
  text.target += "ka\nka\nka\n";
  const PreparedCorpus corpus = prepared(toy_data(folder, text));
  EXPECT_EQ(corpus.counts.left_out.too_long, 3) << "one subword of unknown characters, too";
  EXPECT_EQ(corpus.counts.kept, 500);
}

TEST_F(PrepareTest, InvalidInputsAreExplained) {
  DataConfig data;
  EXPECT_NE(error_of(data).find("data.source is not set"), std::string::npos);
  data.source = data.target = {folder.path("none")};
  EXPECT_NE(error_of(data).find("cannot open"), std::string::npos);
  data.obtain = "ask the librarian";
  EXPECT_NE(error_of(data).find("to obtain the corpus: ask the librarian"), std::string::npos);
  data = toy_data(folder, text);
  data.valid_source = data.valid_target = {folder.path("none")};  // reported before anything is learned
  EXPECT_NE(error_of(data).find("cannot open"), std::string::npos);
  data.valid_source = {folder.write("three", "a\nb\nc\n")};
  data.valid_target = {folder.write("two", "a\nb\n")};
  EXPECT_NE(error_of(data).find("has 3 lines"), std::string::npos);
  data.valid_source = data.valid_target = {folder.write("blank", "\n\n\n")};
  EXPECT_NE(error_of(data).find("the validation set is empty"), std::string::npos);
  data = {};
  data.source = data.target = {folder.write("empty", "")};
  EXPECT_NE(error_of(data).find("there is no line in"), std::string::npos);
  data.source = data.target = {folder.path("blank")};
  EXPECT_NE(error_of(data).find("every line is empty"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path("data")));
}

}  // namespace
}  // namespace dragoman::internal
