// A corpus of text without sources, as a language model learns it.
#include <zlib.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/batches.h"
#include "data/corpora.h"

namespace dragoman::internal {
namespace {

TEST(OneSided, NothingHasASource) {
  const TemporaryFolder folder;
  const ToyText text = toy_text(500);
  const DataConfig data = {.text = {folder.write("text", text.target + "\n")}, .hold_out = 20};
  const std::string prepared = folder.path("data");
  const PreparedCorpus corpus = prepare_corpus(data, toy_vocabulary(), prepared, 2);
  EXPECT_EQ(corpus.counts.kept, 480);
  EXPECT_EQ(corpus.counts.left_out.empty, 1);
  EXPECT_EQ(corpus.counts.source_tokens, 0);
  EXPECT_TRUE(corpus.vocabularies.shared());

  const BatchSettings settings = batch_settings(data, toy_vocabulary(), 200, 1);
  ShardedBatches batches(corpus, settings);
  size_t lines = 0;
  while (const std::optional<Batch> batch = batches.next()) {
    EXPECT_EQ(batch->source.sentences(), std::ssize(batch->pairs));
    EXPECT_TRUE(batch->source.ids.empty());
    EXPECT_LE(batch->target_tokens(), 200);
    lines += batch->pairs.size();
  }
  EXPECT_EQ(lines, 480U);

  const std::vector<TextPair> held_out = validation_pairs(data, prepared);
  ASSERT_EQ(held_out.size(), 20U);
  for (const TextPair& pair : held_out) {
    EXPECT_EQ(pair.source, "");
    EXPECT_GE(std::ranges::count(text.target_lines, pair.target), 1) << pair.target;
  }
  for (const Batch& batch : batches_of(held_out, corpus.vocabularies, settings))
    EXPECT_TRUE(batch.source.ids.empty());
  EXPECT_TRUE(prepare_corpus(data, toy_vocabulary(), prepared, 2).was_there);
}

TEST(OneSided, EmptyLinesEndDocuments) {
  const TemporaryFolder folder;
  const DataConfig data = {.text = {folder.write("text", "\n\na b\nc\n \n\nd\n\xff\n\ne\tf\ng\n")},
                           .documents = true,
                           .valid_text = {folder.write("valid", "x\ny\n\nz\n")}};
  std::vector<std::string> texts;
  CorpusReader reader(corpus_sources(data), false, 0);
  int invalid = 0;
  for (RawPair pair; reader.next(pair);) {
    invalid += pair.invalid;
    if (!pair.invalid) texts.emplace_back(pair.target);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"a b c", "e\tf g"}));
  EXPECT_EQ(invalid, 1) << "a document with a line that is not valid";
  DroppedPairs left_out;
  const std::vector<TextPair> valid = read_pairs(validation_sources(data), false, left_out);
  ASSERT_EQ(valid.size(), 2U);
  EXPECT_EQ(valid[0].target, "x y");
  EXPECT_EQ(valid[1].target, "z");
}

TEST(OneSided, EmptyLinesEndDocumentsOfAColumn) {
  const TemporaryFolder folder;
  const DataConfig data = {
      .text = {folder.write("text", "1\ta b\tx\n2\tc\n\n\n3\td\n")}, .text_column = 2, .documents = true};
  CorpusReader reader(corpus_sources(data), false, 0);
  std::vector<std::string> texts;
  for (RawPair pair; reader.next(pair);) {
    EXPECT_FALSE(pair.invalid);
    texts.emplace_back(pair.target);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"a b c", "d"}));
}

// Where empty lines are missing, the document is the whole file.
TEST(OneSided, DocumentsHaveALimit) {
  const TemporaryFolder folder;
  const std::string megabyte = folder.path("line.gz"), line = std::string(1 << 20, 'a') + "\n";
  const gzFile file = gzopen(megabyte.c_str(), "wb");
  gzwrite(file, line.data(), static_cast<unsigned>(line.size()));
  gzclose(file);
  const std::string member = read_file(megabyte);
  std::string text;
  for (int i = 0; i < 257; ++i) text += member;
  const DataConfig data = {.text = {folder.write("text.gz", text)}, .documents = true};
  CorpusReader reader(corpus_sources(data), false, 0);
  RawPair pair;
  try {
    reader.next(pair);
    ADD_FAILURE() << "a document of " << pair.target.size() << " bytes";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              data.text[0] +
                  ":256: the document has more than 256 MiB: do empty lines separate the file's documents?");
  }
}

// Another model's vocabulary is its target's, also where its source has one of its own.
TEST(OneSided, TakesTheTargetsVocabulary) {
  const TemporaryFolder folder;
  const ToyText text = toy_text(500);
  const DataConfig pairs = toy_data(folder, text), data = {.text = {folder.write("text", text.target)}};
  const PreparedCorpus of_pairs = prepare_corpus(pairs, toy_vocabulary(), folder.path("pairs"), 1);
  ASSERT_FALSE(of_pairs.vocabularies.shared());
  VocabularyConfig vocabulary = toy_vocabulary();
  vocabulary.from = folder.path("pairs");
  const PreparedCorpus corpus = prepare_corpus(data, vocabulary, folder.path("text-alone"), 1);
  EXPECT_TRUE(corpus.vocabularies.shared());
  EXPECT_EQ(corpus.vocabularies.source->model(), of_pairs.vocabularies.target->model());
}

}  // namespace
}  // namespace dragoman::internal
