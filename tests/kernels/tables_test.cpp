// Which table of kernels is chosen, and what kernels run on.
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

TEST(Tables, ThePlainestIsTheFirstAndTheBestTheChoice) {
  const auto all = every_instruction_set();
  EXPECT_STREQ(all.front()->name, "baseline");
  EXPECT_EQ(&kernels_for(nullptr), all.back());
  EXPECT_EQ(&kernels_for(""), all.back());
  for (const Kernels* kernels : all) EXPECT_EQ(&kernels_for(kernels->name), kernels);
}

TEST(Tables, AnUnknownNameIsAnErrorThatListsWhatThereIs) {
  for (const char* name : {"avx1024", "AVX2", "baseline "}) {
    try {
      kernels_for(name);
      FAIL() << name;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find("DRAGOMAN_ISA"), std::string::npos) << message;
      for (const Kernels* kernels : every_instruction_set()) {
        EXPECT_NE(message.find(kernels->name), std::string::npos) << message;
      }
    }
  }
}

TEST(Tables, TheLastMultiplyBf16Themselves) {
  for (const Kernels* kernels : every_instruction_set()) {
    const std::string name = kernels->name;
    EXPECT_EQ(kernels->low_precision.rounded_is_fast, name == "avx512bf16" || name == "amx") << name;
  }
}

TEST(Tables, AreComplete) {
  for (const Kernels* kernels : every_instruction_set()) {
    Kernels table = *kernels;
    table.low_precision.rounded_is_fast = true;  // the only entries that may be 0
    table.low_precision.round = [](Context&, ConstMatrix, uint16_t*) {};
    table.low_precision.attends_in_bf16 = [](int64_t) { return false; };
    void (*entries[sizeof(Kernels) / sizeof(void*)])();
    std::memcpy(static_cast<void*>(entries), static_cast<const void*>(&table), sizeof entries);
    for (const auto entry : entries) EXPECT_NE(entry, nullptr) << kernels->name;
  }
}

TEST(ContextTest, MemoryIsAlignedGrowsAndIsEachWorkersOwn) {
  CpuContext context(3);
  EXPECT_EQ(context.threads(), 3);
  std::vector<void*> places;
  for (int worker = 0; worker < 3; ++worker) places.push_back(context.local(worker, 1000));
  places.push_back(context.shared(1000));
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places[i]) % 64, 0U);
    std::memset(places[i], static_cast<int>(i), 1000);
  }
  for (size_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(static_cast<char*>(places[i])[999], static_cast<char>(i));
  void* large = context.shared(100'000);
  std::memset(large, 1, 100'000);
  EXPECT_EQ(context.shared(10), large) << "a small request is served by what is there";
}

TEST(ContextTest, RunsEachTaskOnce) {
  CpuContext context(2);
  std::atomic<int> runs[100] = {};
  context.parallel(
      100, [](void* all, int64_t task, int) { ++static_cast<std::atomic<int>*>(all)[task]; }, runs);
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace dragoman::internal
