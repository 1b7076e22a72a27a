#include "tensor/tokens.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tensor/counting_memory.h"

namespace dragoman::internal {
namespace {

struct Packing : testing::Test {
  Tokens pack(const std::vector<int32_t>& ids, const std::vector<int32_t>& lengths,
              const std::vector<int32_t>& first = {}) {
    std::vector<uint64_t> pairs(lengths.size());
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = 100 + i;
    return pack_tokens(device, ids, lengths, pairs, first);
  }
  Device device{kernels_for("baseline"), 1};
};

TEST_F(Packing, SentencesStandEndToEnd) {
  const Tokens tokens = pack({5, 6, 7, 8, 9, 4}, {3, 1, 2});
  EXPECT_EQ(tokens.count(), 6);
  EXPECT_EQ(tokens.positions, 3);
  EXPECT_EQ(tokens.spans.longest, 3);
  ASSERT_EQ(tokens.spans.count(), 3);
  const int32_t begins[] = {0, 3, 4}, lengths[] = {3, 1, 2};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tokens.spans.spans.values()[i].begin, begins[i]);
    EXPECT_EQ(tokens.spans.spans.values()[i].length, lengths[i]);
  }
  const uint64_t pairs[] = {100, 100, 100, 101, 102, 102};
  const uint32_t positions[] = {0, 1, 2, 0, 0, 1};
  for (size_t r = 0; r < 6; ++r) {
    EXPECT_EQ(tokens.ids.values()[r], (std::vector{5, 6, 7, 8, 9, 4})[r]);
    EXPECT_EQ(tokens.rows.values()[r].pair, pairs[r]);
    EXPECT_EQ(tokens.rows.values()[r].position, positions[r]);
  }
}

TEST_F(Packing, LaterTokensOfTheirSentences) {
  const Tokens tokens = pack({5, 6}, {1, 1}, {3, 7});
  EXPECT_EQ(tokens.rows.values()[1].position, 7U);
  EXPECT_EQ(tokens.positions, 8);
}

TEST_F(Packing, LengthsMustFit) {
  EXPECT_THROW(pack({1, 2, 3}, {2, 2}), BrokenInvariant);
  EXPECT_THROW(pack({1, 2, 3}, {2}), BrokenInvariant);
  EXPECT_NO_THROW(pack({}, {}));
}

TEST_F(Packing, GivesItsMemoryBack) {
  { const Tokens tokens = pack({5, 6, 7}, {1, 2}); }
  EXPECT_EQ(device.pool.in_use(), 0U);
}

// Nothing waits for a device: what is packed comes from the host.
TEST_F(Packing, DownloadsNothing) {
  CountingMemory memory;
  Device counting(device.kernels, std::unique_ptr<Context>(device.kernels.new_context(1)), memory);
  const Tokens tokens =
      pack_tokens(counting, std::vector{5, 6, 7, 8}, std::vector{3, 1}, std::vector<uint64_t>{7, 9});
  EXPECT_EQ(memory.downloads, 0);
  const auto rows = tokens.rows.values();
  EXPECT_EQ(memory.downloads, 1);
  EXPECT_EQ(rows[2].pair, 7U);
  EXPECT_EQ(rows[2].position, 2U);
  EXPECT_EQ(tokens.spans.spans.values()[1].begin, 3);
}

}  // namespace
}  // namespace dragoman::internal
