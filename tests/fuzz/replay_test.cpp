// Every reader on its seeds, and on seeds that are cut off, overwritten and spliced: a short and repeatable share of
// what `make fuzz` does at length. The assertion is that they return, which the sanitizers make strict.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "fuzz/targets.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

constexpr int damaged_seeds = 300;

std::string damaged(std::string bytes, Random& random) {
  const auto place = [&] { return static_cast<size_t>(random.below(bytes.size() + 1)); };
  for (uint64_t times = 1 + random.below(3); times > 0; --times) {
    const size_t at = place();
    switch (random.below(5)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, bytes.substr(place(), random.below(64)));
        break;
      case 2:
        bytes.erase(at, random.below(16));
        break;
      case 3:
        bytes.insert(at, "e99");  // behind a digit, a number that no integer holds
        break;
      default:
        for (size_t i = at; i < std::min(at + 1 + random.below(4), bytes.size()); ++i)
          bytes[i] = static_cast<char>(random.below(256));
    }
  }
  return bytes;
}

class Reader : public testing::TestWithParam<FuzzTarget> {};

TEST_P(Reader, ReturnsForItsSeedsAndForDamagedOnes) {
  const auto seeds = GetParam().seeds();
  const TemporaryFolder silent;
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) ASSERT_EQ(GetParam().read(seed), "");
  Random random(1);
  for (int i = 0; i < damaged_seeds; ++i)
    ASSERT_NO_THROW(GetParam().read(damaged(seeds[random.below(seeds.size())], random))) << i;
  ASSERT_NO_THROW(GetParam().read(""));
}

INSTANTIATE_TEST_SUITE_P(Of, Reader, testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& test) { return std::string(test.param.name); });

// What fuzzing found worth keeping: tests/fuzz/corpus/TARGET, a file an input.
TEST(Readers, ReturnForWhatFuzzingFound) {
  int kept = 0;
  for (const FuzzTarget& target : fuzz_targets()) {
    const auto folder = std::filesystem::path(DRAGOMAN_SOURCE_DIR "/tests/fuzz/corpus") / target.name;
    if (!exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      ASSERT_NO_THROW(target.read(read_file(entry.path().string()))) << entry.path();
      ++kept;
    }
  }
  EXPECT_GT(kept, 200);
}

}  // namespace
}  // namespace dragoman::internal
