// The public library's memory: it is read while it grows, and as long as a request needs it.
#include "dragoman/memory.h"

#include <optional>

#include <gtest/gtest.h>

#include "memory/builder.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

class LibraryMemoryTest : public testing::Test {
 protected:
  LibraryMemoryTest() {
    internal::MemoryBuilder builder(memory_folder_, "en", "fr");
    builder.add({"The cat sleeps.", "Le chat dort.", "test"});
    builder.finish();
  }

  internal::ModelFolder folder_{"library-memory-model"};
  const std::string memory_folder_ = folder_.path + "/memory";
  Translator translator_{folder_.path, {.threads = 1, .batch = 4}};
};

TEST_F(LibraryMemoryTest, WhatIsAddedIsUsedAtOnce) {
  Memory memory(memory_folder_, Memory::Access::add);
  const auto translated = [&](const std::string& text) {
    return translator_.submit({.text = text, .memory = &memory}).get();
  };
  EXPECT_EQ(translated("The cat sleeps.").text(), "Le chat dort.");
  EXPECT_FALSE(translated("It is cold.").memory);
  memory.add({"It is cold.", "Il fait froid."}, "test");
  const Translation known = translated("It is cold.");
  EXPECT_EQ(known.text(), "Il fait froid.");
  EXPECT_TRUE(known.memory);
  ASSERT_EQ(known.memory_segments.size(), 1U);
  EXPECT_TRUE(known.memory_segments[0].exact);
  EXPECT_EQ(memory.look_up("The cat  sleeps").at(0).target, "Le chat dort.");
}

TEST_F(LibraryMemoryTest, ARequestKeepsItOpen) {
  std::optional<Memory> memory(memory_folder_);
  std::vector<std::future<Translation>> waiting;
  for (int i = 0; i < 8; ++i)
    waiting.push_back(
        translator_.submit({.text = i == 7 ? "The cat sleeps." : "The cat barks at " + std::to_string(i),
                            .options = {{"max-length", 12}},
                            .memory = &*memory}));
  memory.reset();
  for (auto& one : waiting) one.wait();
  EXPECT_EQ(waiting.back().get().text(), "Le chat dort.");
}

TEST_F(LibraryMemoryTest, WhatIsOnlyReadCannotGrow) {
  Memory memory(memory_folder_);
  EXPECT_EQ(memory.from() + memory.to(), "enfr");
  EXPECT_THROW(memory.add({"It is cold.", "Il fait froid."}), Error);
  Memory grows(memory_folder_, Memory::Access::add);
  EXPECT_THROW(grows.add({"", "Il fait froid."}), Error);
  EXPECT_THROW(grows.add({"It is cold.", "\xff"}), Error);
  EXPECT_THROW(Memory(folder_.path), Error);
}

}  // namespace
}  // namespace dragoman
