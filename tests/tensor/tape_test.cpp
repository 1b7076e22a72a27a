// The tape: the order of its closures, how long they live, and when a parameter's gradient is announced.
#include "tensor/tape.h"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

TEST(Tape, RunsBackwards) {
  Tape tape;
  std::vector<int> ran;
  for (int i = 0; i < 5; ++i) tape.record({}, [&ran, i] { ran.push_back(i); });
  EXPECT_TRUE(ran.empty());
  tape.backward();
  EXPECT_EQ(ran, (std::vector{4, 3, 2, 1, 0}));
  tape.backward();
  EXPECT_EQ(ran.size(), 5U) << "nothing is left to run";
}

// A closure dies before the one recorded ahead of it runs, and so does what it held.
TEST(Tape, MemoryFallsAsItUnwinds) {
  Pool pool;
  Tape tape;
  const size_t size = 1024;
  std::vector<size_t> in_use;
  for (int i = 0; i < 4; ++i) {
    const Tensor saved(pool, 1, size / sizeof(float));
    tape.record({}, [&, saved] { in_use.push_back(pool.in_use()); });
  }
  EXPECT_EQ(pool.in_use(), 4 * size);
  tape.backward();
  EXPECT_EQ(in_use, (std::vector{4 * size, 3 * size, 2 * size, size}));
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Tape, ClearForgetsWithoutRunning) {
  Pool pool;
  bool ran = false;
  const Tensor parameter = Tensor::parameter(pool, 1, 1);
  Tape tape;
  for (int round = 0; round < 2; ++round) {
    const Tensor saved(pool, 1, 100);
    tape.record({&parameter}, [&ran, saved] { ran = true; });
  }
  EXPECT_EQ(parameter.storage().pending, 2);
  tape.clear();
  EXPECT_FALSE(ran);
  EXPECT_EQ(parameter.storage().pending, 0);
  EXPECT_EQ(pool.in_use(), 0U);
  tape.backward();
  EXPECT_FALSE(ran);
}

TEST(Tape, DestroysWhatIsLeftAtItsEnd) {
  const auto held = std::make_shared<int>();
  {
    Tape tape;
    tape.record({}, [held] {});
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

struct Announcements {
  std::vector<const Storage*> parameters;
  static void note(void* argument, const Storage& parameter) {
    static_cast<Announcements*>(argument)->parameters.push_back(&parameter);
  }
};

// a is used by three closures, b by one in their middle: each is announced once, as soon as it is complete.
TEST(Tape, AnnouncesTheLastWriteToAGradient) {
  Pool pool;
  Tape tape;
  Announcements announced;
  tape.on_gradient_ready(Announcements::note, &announced);
  const Tensor a = Tensor::parameter(pool, 1, 1), b = Tensor::parameter(pool, 1, 1), none;
  std::vector<size_t> before;
  const auto look = [&] { before.push_back(announced.parameters.size()); };
  tape.record({&a, &none}, look);
  tape.record({&b, &a}, look);
  tape.record({}, look);
  tape.record({&a}, look);
  tape.backward();
  EXPECT_EQ(before, (std::vector<size_t>{0, 0, 0, 1}));
  EXPECT_EQ(announced.parameters, (std::vector<const Storage*>{&b.storage(), &a.storage()}));
}

// More than fits into one chunk of the tape's memory, of closures of several sizes and alignments.
TEST(Tape, ManyClosures) {
  Tape tape;
  for (int round = 0; round < 2; ++round) {
    int64_t sum = 0;
    for (int64_t i = 0; i < 2000; ++i) {
      tape.record({}, [&sum, i] {
        const volatile auto place =
            reinterpret_cast<uintptr_t>(&i);  // else the compiler would know the answer
        EXPECT_EQ(place % alignof(int64_t), 0U);
        sum += i;
      });
      std::array<int64_t, 30> large = {};
      large[29] = i;
      tape.record({}, [&sum, large] { sum += large[29]; });
      const char small = 1;
      tape.record({}, [small] { EXPECT_EQ(small, 1); });
    }
    tape.backward();
    EXPECT_EQ(sum, 2000 * 1999);
  }
}

TEST(Tape, AClosureLargerThanAChunkIsRefused) {
  Tape tape;
  const std::array<char, 100'000> large = {};
  EXPECT_THROW(tape.record({}, [large] { (void)large; }), BrokenInvariant);
}

}  // namespace
}  // namespace dragoman::internal
