#include "serve/kept_files.h"

#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "serve/route.h"

namespace dragoman::internal {
namespace {

TEST(KeptFilesTest, FilesAreFoundByTheirNamesUntilTheyAreRemoved) {
  KeptFiles files;
  const std::string name = files.keep(std::string("a\0b", 3)), other = files.keep("");
  EXPECT_EQ(name.size(), 32u);
  EXPECT_EQ(files.find(name), std::string("a\0b", 3));
  EXPECT_EQ(files.find(other), "");
  for (const std::string& wrong :
       {std::string("."), std::string(".."), std::string(), "../" + name, name + "/"})
    EXPECT_EQ(files.find(wrong), std::nullopt) << wrong;
  files.remove(name);
  EXPECT_EQ(files.find(name), std::nullopt);
  EXPECT_EQ(files.size(), 1u);
}

TEST(KeptFilesTest, AreDeletedAfterATimeWithoutBeingAskedFor) {
  KeptFiles files({.time = std::chrono::milliseconds(30)});
  files.keep("a");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (files.size() > 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(files.size(), 0u);
}

TEST(KeptFilesTest, AreBoundedInNumberAndSize) {
  KeptFiles two({.files = 2}), ten({.bytes = 10});
  const std::string first = two.keep("a");
  two.keep("b");
  EXPECT_THROW(two.keep("c"), ServeError);
  two.remove(first);
  EXPECT_NO_THROW(two.keep("c"));
  const std::string six = ten.keep("123456");
  EXPECT_THROW(ten.keep("12345"), ServeError);
  EXPECT_NO_THROW(ten.keep("1234"));
  ten.remove(six);
  EXPECT_NO_THROW(ten.keep("654321"));
}

TEST(KeptFilesTest, ThreadsKeepAndFindAtOnce) {
  KeptFiles files({.files = 64});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string bytes(static_cast<size_t>(t * 100 + i), 'x'), name = files.keep(bytes);
        EXPECT_EQ(files.find(name), bytes);
        files.remove(name);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(files.size(), 0u);
}

TEST(KeptFilesTest, NothingIsLeftBehind) {
  const auto folders = [] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
      if (entry.path().filename().string().starts_with("dragoman-files-"))
        found.insert(entry.path().string());
    }
    return found;
  };
  const std::set<std::string> before = folders();
  std::set<std::string> ours;
  {
    KeptFiles files;
    files.keep("a");
    for (const std::string& folder : folders()) {
      if (!before.contains(folder)) ours.insert(folder);
    }
    EXPECT_FALSE(ours.empty());
  }
  bool left = true;
  for (const std::string& folder : ours) left = left && std::filesystem::exists(folder);
  EXPECT_FALSE(left);
}

TEST(KeptFilesTest, NamesForHeadersAndAddressesArePlain) {
  EXPECT_EQ(plain_file_name("My file (1).docx"), "My_file__1_.docx");
  EXPECT_EQ(plain_file_name("a\"\r\nX: y.txt"), "a___X__y.txt");
  EXPECT_EQ(plain_file_name("..."), "file");
  EXPECT_EQ(plain_file_name("../x"), "_x");
  EXPECT_EQ(plain_file_name(std::string(1000, 'a')).size(), 300u);
}

}  // namespace
}  // namespace dragoman::internal
