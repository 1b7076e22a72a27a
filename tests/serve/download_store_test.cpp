#include "serve/documents/download_store.h"

#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "serve/full_disk.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

std::string keep(DownloadStore& files, std::string_view bytes, const std::string& client = "someone") {
  return files.keep(*files.reserve(bytes.size(), client), bytes);
}

int refusal(DownloadStore& files, size_t bytes, const std::string& client) {
  try {
    files.reserve(bytes, client);
  } catch (const ServeError& error) {
    return error.status();
  }
  return 0;
}

TEST(DownloadStoreTest, FilesAreFoundByTheirNames) {
  DownloadStore files;
  const std::string name = keep(files, std::string("a\0b", 3)), other = keep(files, "");
  EXPECT_EQ(name.size(), 32u);
  EXPECT_EQ(files.find(name), std::string("a\0b", 3));
  EXPECT_EQ(files.find(name), std::string("a\0b", 3));
  EXPECT_EQ(files.find(other), "");
  for (const std::string& wrong :
       {std::string("."), std::string(".."), std::string(), "../" + name, name + "/"})
    EXPECT_EQ(files.find(wrong), std::nullopt) << wrong;
  EXPECT_EQ(files.size(), 2u);
}

TEST(DownloadStoreTest, AreDeletedAfterATimeWithoutBeingAskedFor) {
  DownloadStore files({.time = std::chrono::milliseconds(30)});
  keep(files, "a");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (files.size() > 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(files.size(), 0u);
}

TEST(DownloadStoreTest, SpaceIsReservedBeforeTheWork) {
  DownloadStore files({.files = 4, .bytes = 100});
  std::vector<std::shared_ptr<DownloadStore::Place>> places;
  for (const char* client : {"a", "b", "c", "d"}) places.push_back(files.reserve(10, client));
  EXPECT_EQ(files.find(places[0]->name()), std::nullopt);
  EXPECT_EQ(refusal(files, 1, "e"), 503);
  places.pop_back();  // what was to be there could not be made
  EXPECT_EQ(refusal(files, 20, "e"), 0);
  EXPECT_EQ(refusal(files, 21, "e"), 503);  // twice as many, beside 60
  EXPECT_EQ(files.find(files.keep(*places[0], "less")), "less");
  EXPECT_NO_THROW(files.keep(*places[1], std::string(80, 'x')));  // for which the one that was fetched goes
  EXPECT_EQ(files.size(), 2u);
  EXPECT_THROW(files.keep(*places[2], std::string(60, 'x')), ServeError);
}

TEST(DownloadStoreTest, TheOldestThatWasFetchedMakesRoom) {
  DownloadStore files({.files = 3});
  const std::string unfetched = keep(files, "1", "a"), oldest = keep(files, "2", "b");
  const std::string fetched = keep(files, "3", "c");
  EXPECT_EQ(refusal(files, 1, "d"), 503);
  EXPECT_EQ(files.find(unfetched, false), "1");
  EXPECT_EQ(refusal(files, 1, "d"), 503) << "whose client has only looked at its head";
  files.find(fetched);
  files.find(oldest);
  keep(files, "4", "d");
  EXPECT_EQ(files.find(oldest), std::nullopt);
  EXPECT_EQ(files.find(fetched), "3");
  EXPECT_EQ(files.find(unfetched), "1");
}

TEST(DownloadStoreTest, OneClientHasAQuarterBesidesWhatItFetched) {
  DownloadStore files({.files = 8, .bytes = 80});
  const std::string first = keep(files, "12345", "a");
  EXPECT_EQ(refusal(files, 8, "a"), 429);  // 5 and 16 bytes of 20
  keep(files, "1", "a");
  EXPECT_EQ(refusal(files, 1, "a"), 429);
  EXPECT_EQ(refusal(files, 30, "b"), 0);  // a first one always
  files.find(first);
  EXPECT_EQ(refusal(files, 1, "a"), 0);
}

TEST(DownloadStoreTest, WaitsForThoseThatAreBeingMadeAndFetched) {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(50); };
  const auto late = [] { return std::chrono::steady_clock::now() + std::chrono::minutes(10); };
  DownloadStore files({.time_to_ask = std::chrono::minutes(5)}),
      hasty({.time_to_ask = std::chrono::milliseconds(1)});
  auto place = files.reserve(1, "a");
  EXPECT_EQ(files.wait(soon()).unfinished, 1u);
  EXPECT_EQ(refusal(files, 1, "a"), 503);
  files.keep(*place, "a");
  EXPECT_EQ(files.wait(soon()).unfetched, 1u);
  std::jthread client([&] { files.find(place->name()); });
  EXPECT_EQ(files.wait(late()).unfetched, 0u);
  keep(hasty, "a");
  EXPECT_EQ(hasty.wait(late()).unfetched, 1u);
}

TEST(DownloadStoreTest, AFullDiskIsAnErrorAndLeavesNoHalfFile) {
  DownloadStore files({.bytes = 100});
  const std::string whole = keep(files, "a");
  {
    const FullDisk disk(10);
    EXPECT_THROW(keep(files, std::string(30, 'x'), "other"), dragoman::Error);
  }
  EXPECT_EQ(files.size(), 1u);
  EXPECT_EQ(files.find(whole, false), "a");
  EXPECT_EQ(refusal(files, 49, "another"), 0) << "its space is free again";
}

TEST(DownloadStoreTest, ThreadsKeepAndFindAtOnce) {
  DownloadStore files({.files = 16});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string bytes(static_cast<size_t>(t * 100 + i), 'x');
        EXPECT_EQ(files.find(keep(files, bytes, std::to_string(t))), bytes);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(files.size(), 16u);
}

TEST(DownloadStoreTest, NothingIsLeftBehind) {
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
    DownloadStore files;
    keep(files, "a");
    for (const std::string& folder : folders()) {
      if (!before.contains(folder)) ours.insert(folder);
    }
    EXPECT_FALSE(ours.empty());
  }
  bool left = true;
  for (const std::string& folder : ours) left = left && std::filesystem::exists(folder);
  EXPECT_FALSE(left);
}

TEST(DownloadStoreTest, NamesForHeadersAndAddressesArePlain) {
  EXPECT_EQ(plain_file_name("My file (1).docx"), "My_file__1_.docx");
  EXPECT_EQ(plain_file_name("a\"\r\nX: y.txt"), "a___X__y.txt");
  EXPECT_EQ(plain_file_name("..."), "file");
  EXPECT_EQ(plain_file_name("../x"), "_x");
  EXPECT_EQ(plain_file_name(std::string(1000, 'a')).size(), 300u);
}

}  // namespace
}  // namespace dragoman::internal
