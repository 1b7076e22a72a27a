// What decides on whether a prepared corpus is up to date.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/corpora.h"
#include "data/prepare_corpus.h"

namespace dragoman::internal {
namespace {

// An earlier version's manifest has neither formats nor a tokenizer.
TEST(CorpusOrigin, NamesFormatsAndTokenizersThatEarlierVersionsLacked) {
  const TemporaryFolder folder;
  DataConfig data = toy_data(folder, toy_text(50));
  VocabularyConfig vocabulary = toy_vocabulary();
  const auto was_there = [&] { return prepare_corpus(data, vocabulary, folder.path("data"), 1).was_there; };
  EXPECT_FALSE(was_there());
  const auto manifest = [&] { return nlohmann::json::parse(read_file(folder.path("data/prepared.json"))); };
  EXPECT_FALSE(manifest()["origin"].contains("formats"));
  EXPECT_FALSE(manifest()["origin"]["data"].contains("format"));
  EXPECT_FALSE(manifest()["origin"]["vocabulary"].contains("tokenizer"));
  data.format = TextFormat::text;
  EXPECT_TRUE(was_there());
  data.format = TextFormat::iwslt;
  EXPECT_FALSE(was_there());
  EXPECT_EQ(manifest()["origin"]["formats"][data.source[0]], "iwslt");
  EXPECT_TRUE(was_there());
  vocabulary = {.kind = PieceKind::words, .tokenizer = WordTokenizer::simple};
  EXPECT_FALSE(was_there());
  EXPECT_EQ(manifest()["origin"]["vocabulary"]["tokenizer"], "simple");
}

TEST(CorpusOrigin, AFileIsNotNeededOnceItIsPrepared) {
  const TemporaryFolder folder;
  const DataConfig data = toy_data(folder, toy_text(50));
  VocabularyConfig vocabulary = toy_vocabulary();
  const auto was_there = [&] { return prepare_corpus(data, vocabulary, folder.path("data"), 1).was_there; };
  EXPECT_FALSE(was_there());
  for (const std::string& path : {data.source[0], data.target[0]}) std::filesystem::remove(path);
  EXPECT_TRUE(was_there());
  vocabulary.size -= 5;
  EXPECT_THROW(was_there(), Error);
}

}  // namespace
}  // namespace dragoman::internal
