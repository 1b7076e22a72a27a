// The pool against the simplest model of it: a list of the blocks that are out.
#include "tensor/pool.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "tensor/losable_memory.h"
#include "tensor/tensor.h"

namespace dragoman::internal {
namespace {

struct Taken {
  Block block;
  size_t bytes;
  unsigned char mark;

  const unsigned char* begin() const { return static_cast<const unsigned char*>(block.data); }
  bool untouched() const {
    for (size_t i = 0; i < bytes; ++i) {
      if (begin()[i] != mark) return false;
    }
    return true;
  }
};

size_t rounded(size_t bytes) { return (std::max<size_t>(bytes, 1) + 63) / 64 * 64; }

class PoolModel {
 public:
  explicit PoolModel(uint64_t key) : random_(key) {}

  void take(size_t bytes) {
    const Taken taken = {pool.allocate(bytes), bytes, static_cast<unsigned char>(random_.below(256))};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(taken.block.data) % 64, 0U);
    for (const Taken& other : out_) {
      ASSERT_TRUE(taken.begin() + rounded(bytes) <= other.begin() ||
                  other.begin() + rounded(other.bytes) <= taken.begin())
          << "two blocks share memory";
    }
    if (bytes > 0) std::memset(taken.block.data, taken.mark, bytes);
    out_.push_back(taken);
    in_use_ += rounded(bytes);
    check();
  }

  void give_one() {
    const size_t i = random_.below(out_.size());
    ASSERT_TRUE(out_[i].untouched());
    pool.free(out_[i].block);
    in_use_ -= rounded(out_[i].bytes);
    out_[i] = out_.back();
    out_.pop_back();
    check();
  }

  void check() const {
    ASSERT_EQ(pool.in_use(), in_use_);
    ASSERT_GE(pool.peak(), in_use_);
    ASSERT_GE(pool.high_water_mark(), in_use_);
  }

  bool empty() const { return out_.empty(); }
  Random& random() { return random_; }
  Pool pool;

 private:
  Random random_;
  std::vector<Taken> out_;
  size_t in_use_ = 0;
};

// At the end all is one free block again: the pool can give as much as it ever reached, and needs no more.
TEST(Pool, RandomTakesAndGives) {
  for (uint64_t key = 0; key < 4; ++key) {
    PoolModel model(key);
    for (int step = 0; step < 1500; ++step) {
      const bool take = model.empty() || model.random().below(100) < (step % 500 < 250 ? 65 : 40);
      if (take) {
        model.take(model.random().below(uint64_t{1} << model.random().below(14)));
      } else {
        model.give_one();
      }
      if (HasFatalFailure()) return;
    }
    while (!model.empty()) model.give_one();
    const size_t reached = model.pool.high_water_mark();
    EXPECT_EQ(model.pool.in_use(), 0U);
    model.take(reached);
    EXPECT_EQ(model.pool.high_water_mark(), reached) << "free neighbours were not joined";
  }
}

TEST(Pool, TakesTheSmallestBlockThatFits) {
  for (const bool large_first : {true, false}) {
    Pool pool;
    const Block large = pool.allocate(1024), wall = pool.allocate(64), small = pool.allocate(256),
                end = pool.allocate(64);
    pool.free(large_first ? large : small);
    pool.free(large_first ? small : large);
    const size_t reached = pool.high_water_mark();
    const Block again = pool.allocate(200);
    EXPECT_EQ(again.data, small.data);
    const Block front = pool.allocate(512), back = pool.allocate(512);
    EXPECT_EQ(front.data, large.data);
    EXPECT_EQ(back.data, static_cast<char*>(large.data) + 512);
    EXPECT_EQ(pool.high_water_mark(), reached);
    for (const Block& block : {wall, end, again, front, back}) pool.free(block);
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

TEST(Pool, LengthensItsLastBlock) {
  Pool pool;
  pool.free(pool.allocate(1000));
  pool.free(pool.allocate(5000));
  EXPECT_EQ(pool.high_water_mark(), rounded(5000));
  const size_t most_of_a_region = size_t{3} << 30, yet_more = most_of_a_region + (size_t{1} << 29);
  pool.free(pool.allocate(most_of_a_region));
  pool.free(pool.allocate(yet_more));
  EXPECT_EQ(pool.high_water_mark(), yet_more) << "the region has what the block lacks";
}

TEST(Pool, MoreThanOneRegion) {
  Pool pool;
  const size_t huge = size_t{5} << 30;  // addresses; none of it is touched
  const Block a = pool.allocate(100), b = pool.allocate(huge), c = pool.allocate(100);
  static_cast<char*>(b.data)[huge - 1] = 1;
  for (const Block& block : {a, b, c}) pool.free(block);
  const size_t reached = pool.high_water_mark();
  pool.free(pool.allocate(huge));
  EXPECT_EQ(pool.high_water_mark(), reached);
}

// Where a device has no more memory, what was free stays so.
TEST(Pool, ARefusedBlockLeavesItAsItWas) {
  LosableMemory memory;
  Pool pool(memory);
  const Block small = pool.allocate(1000);
  pool.free(pool.allocate(5000));
  const size_t reached = pool.high_water_mark();
  memory.most = reached;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(pool.allocate(9000), Error);
  EXPECT_EQ(pool.high_water_mark(), reached);
  const Block again = pool.allocate(5000);
  EXPECT_EQ(pool.in_use(), rounded(1000) + rounded(5000));
  EXPECT_THROW(pool.allocate(64), Error);
  memory.most = 1 << 20;
  const Block more = pool.allocate(64);
  EXPECT_EQ(more.data, static_cast<char*>(again.data) + rounded(5000));
  for (const Block& block : {small, again, more}) pool.free(block);
  EXPECT_EQ(pool.in_use(), 0U);
}

// As where ulimit -v allows less than a pool would like to have.
TEST(Pool, MakesDoWithFewerAddresses) {
  LosableMemory memory;
  memory.most_addresses = 3 << 20;
  Pool pool(memory);
  const Block a = pool.allocate(1 << 20), b = pool.allocate(1 << 20), c = pool.allocate(3 << 20);
  EXPECT_THROW(pool.allocate(4 << 20), std::bad_alloc);
  for (const Block& block : {a, b, c}) pool.free(block);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Pool, ABlockGivenTwiceIsABrokenInvariant) {
  Pool pool;
  const Block block = pool.allocate(10), wall = pool.allocate(10);
  pool.free(block);
  EXPECT_THROW(pool.free(block), BrokenInvariant);
  pool.free(wall);
}

TEST(Pool, StoragesAreUsedAgainAndFresh) {
  Pool pool;
  Storage* storage = pool.allocate_storage();
  storage->size = 5;
  storage->parameter = true;
  pool.free_storage(storage);
  Storage* again = pool.allocate_storage();
  EXPECT_EQ(again, storage);
  EXPECT_EQ(again->size, 0);
  EXPECT_FALSE(again->parameter);
  pool.free_storage(again);
}

}  // namespace
}  // namespace dragoman::internal
