#include "data/shards.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/corpora.h"

namespace dragoman::internal {
namespace {

class ShardsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const int32_t largest = GetParam() == 2 ? 65535 : 1'000'000;
    ShardWriter writer(path, GetParam(), 42);
    for (int32_t i = 0; i < 100; ++i) {
      sources.emplace_back(static_cast<size_t>(i % 7), largest - i);
      targets.emplace_back(static_cast<size_t>(i % 5), i);
      writer.add(static_cast<uint64_t>(3 * i), sources.back(), targets.back());
    }
    writer.finish();
  }

  std::string error_of(const std::string& contents, uint64_t fingerprint = 42) {
    try {
      Shard(folder.write("other", contents), fingerprint, sizes);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const VocabularySizes sizes = {1 << 20, 1 << 20};
  TemporaryFolder folder;
  const std::string path = folder.path("shard");
  std::vector<std::vector<int32_t>> sources, targets;
};

TEST_P(ShardsTest, RoundTrip) {
  const Shard shard(path, 42, sizes);
  ASSERT_EQ(shard.pairs().size(), sources.size());
  std::vector<int32_t> source, target;
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(shard.pairs()[i].pair, 3 * i);
    EXPECT_EQ(shard.pairs()[i].source_length, sources[i].size());
    shard.read(shard.pairs()[i], source, target);
    EXPECT_EQ(source, sources[i]);
    EXPECT_EQ(target, targets[i]);
  }
  EXPECT_NO_THROW(shard.verify());
  EXPECT_FALSE(std::filesystem::exists(path + ".pairs"));
}

TEST_P(ShardsTest, WrongOrTruncatedFilesAreAnError) {
  const std::string whole = read_file(path);
  EXPECT_EQ(error_of(whole), "no error");
  EXPECT_NE(error_of(whole, 43).find("another corpus"), std::string::npos);
  for (size_t left = 0; left < whole.size(); left += 13)
    EXPECT_NE(error_of(whole.substr(0, left)), "no error") << left;
  EXPECT_NE(error_of(whole + "x"), "no error");
}

// A flipped bit in the header is refused at once; elsewhere the checksums find it, and nothing is read out of bounds.
TEST_P(ShardsTest, DamageIsDetected) {
  const std::string whole = read_file(path);
  for (size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 11) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    if (at < 64) {
      EXPECT_NE(error_of(damaged), "no error") << at;
      continue;
    }
    const Shard shard(folder.write("other", damaged), 42, sizes);
    EXPECT_THROW(shard.verify(), Error) << at;
    std::vector<int32_t> source, target;
    for (const PairRecord& pair : shard.pairs()) {
      try {
        shard.read(pair, source, target);
      } catch (const Error&) {}
    }
  }
}

TEST_P(ShardsTest, IdsThatAreNotInTheVocabularyAreAnError) {
  const auto read_all = [&](const VocabularySizes& small) {
    const Shard shard(path, 42, small);
    std::vector<int32_t> source, target;
    for (const PairRecord& pair : shard.pairs()) shard.read(pair, source, target);
  };
  const int64_t source = GetParam() == 2 ? 65535 : 1'000'000, target = 100;  // one more than the largest
  EXPECT_NO_THROW(read_all({source, target}));
  EXPECT_THROW(read_all({source - 1, target}), Error);
  EXPECT_THROW(read_all({source, target - 1}), Error);
}

// Records whose checksum is right, but which do not follow each other.
TEST_P(ShardsTest, RecordsMustFollowEachOther) {
  const auto error_of_pairs = [&](std::vector<uint64_t> pairs) -> std::string {
    ShardWriter writer(folder.path("odd"), GetParam(), 42);
    for (const uint64_t pair : pairs) writer.add(pair, std::vector<int32_t>{1, 2}, std::vector<int32_t>{3});
    writer.finish();
    try {
      std::vector<Shard> shards;
      shards.emplace_back(path, 42, sizes);
      shards.emplace_back(folder.path("odd"), 42, sizes);
      verify(shards, 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of_pairs({0, 1, 7}), "no error");
  EXPECT_NE(error_of_pairs({0, 7, 1}).find("odd is damaged"), std::string::npos);
  EXPECT_NE(error_of_pairs({5, 5}).find("odd is damaged"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(IdBytes, ShardsTest, testing::Values(2, 4));

}  // namespace
}  // namespace dragoman::internal
