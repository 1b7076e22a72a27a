#include "base/folders.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

TEST(Folders, EntriesAreFilesAndFolders) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("a/folder"));
  folder.write("a/file", "");
  auto entries = entries_of(folder.path("a"));
  std::ranges::sort(entries);
  EXPECT_EQ(entries, (std::vector{folder.path("a/file"), folder.path("a/folder")}));
}

TEST(Folders, AnUnreadableOneIsAnErrorWithItsPathAndTheReason) {
  TemporaryFolder folder;
  for (const char* name : {"missing", "file"}) {
    folder.write("file", "");
    try {
      entries_of(folder.path(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "cannot read the folder " + folder.path(name) + ": " +
                    (name == std::string("file") ? "Not a directory" : "No such file or directory"));
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
