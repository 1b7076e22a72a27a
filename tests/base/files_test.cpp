#include "base/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/new_file.h"
#include "faulty_disk.h"

namespace dragoman::internal {
namespace {

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "files";
};

TEST_F(Files, GivesBackTheBytesThatWereWritten) {
  const std::string large(200'000, 'x');  // more than one read
  const std::string zeros("a\0b\n", 4);
  write_file(folder_ + "/f", {zeros, large});
  EXPECT_EQ(read_file(folder_ + "/f"), zeros + large);
}

TEST_F(Files, WritingReplacesTheFileAndLeavesNothingBeside) {
  write_file(folder_ + "/f", {"a longer first text"});
  write_file(folder_ + "/f", {"short"});
  EXPECT_EQ(read_file(folder_ + "/f"), "short");
  const std::filesystem::directory_iterator files(folder_), end;
  EXPECT_EQ(std::distance(files, end), 1);
}

TEST_F(Files, FailuresNameThePathAndTheReason) {
  const auto message = [](auto body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message([&] { read_file(folder_ + "/none"); }),
            "cannot open " + folder_ + "/none: No such file or directory");
  EXPECT_EQ(message([&] { read_file(folder_); }), "cannot read " + folder_ + ": Is a directory");
  EXPECT_EQ(message([&] { write_file(folder_ + "/none/f", {"x"}); }),
            "cannot open " + folder_ + "/none/f.dragoman-new: No such file or directory");
}

TEST_F(Files, AFailedWriteKeepsWhatWasThere) {
  std::filesystem::create_directories(folder_ + "/taken/inside");  // a file cannot be renamed to it
  EXPECT_THROW(write_file(folder_ + "/taken", {"x"}), Error);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/taken/inside"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/taken.dragoman-new"));
}

TEST_F(Files, AFailureOfTheDiskKeepsWhatWasThere) {
  write_file(folder_ + "/f", {"old"});
  for (const Fault fault : {Fault::no_space, Fault::io_error, Fault::lost}) {
    for (int64_t at = 0; at < 4; ++at) {  // two writes, the flush, and the rename
      if (fault == Fault::lost && at > 1) continue;
      faulty_disk = {.fault = fault, .at = at};
      EXPECT_THROW(write_file(folder_ + "/f", {"new and ", "longer"}), Error)
          << static_cast<int>(fault) << " " << at;
      faulty_disk = {};
      EXPECT_EQ(read_file(folder_ + "/f"), "old");
      EXPECT_FALSE(std::filesystem::exists(folder_ + "/f.dragoman-new"));
    }
  }
}

TEST_F(Files, LinksAndDevicesStayWhatTheyAre) {
  const std::string link = folder_ + "/link", null = folder_ + "/null", full = folder_ + "/full";
  write_file(folder_ + "/f", {"old"});
  std::filesystem::create_symlink("f", link);
  std::filesystem::create_symlink("/dev/null", null);
  std::filesystem::create_symlink("/dev/full", full);
  write_file(link, {"new"});
  EXPECT_EQ(read_file(folder_ + "/f"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  write_file(null, {"lost"});
  EXPECT_TRUE(std::filesystem::is_symlink(null));
  EXPECT_THROW(write_file(full, {"x"}), Error);
}

TEST(Paths, AFoldersNameEndsBeforeItsFinalSlashes) {
  EXPECT_EQ(without_final_slashes("models/x"), "models/x");
  EXPECT_EQ(without_final_slashes("models/x//"), "models/x");
  EXPECT_EQ(without_final_slashes("//"), "/");
  EXPECT_EQ(without_final_slashes(""), "");
}

TEST_F(Files, AFolderThatCannotBeMadeIsNamed) {
  make_folder(folder_ + "/a/b");
  make_folder(folder_ + "/a/b");  // it is there already
  EXPECT_TRUE(std::filesystem::is_directory(folder_ + "/a/b"));
  write_file(folder_ + "/f", {"x"});
  try {
    make_folder(folder_ + "/f/b");
    ADD_FAILURE() << "a folder in a file";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot create the folder " + folder_ + "/f/b: Not a directory");
  }
}

TEST_F(Files, EntriesOfAFolderAreFilesAndFolders) {
  std::filesystem::create_directories(folder_ + "/a/folder");
  write_file(folder_ + "/a/file", {""});
  auto entries = entries_of(folder_ + "/a");
  std::ranges::sort(entries);
  EXPECT_EQ(entries, (std::vector{folder_ + "/a/file", folder_ + "/a/folder"}));
}

TEST_F(Files, AFolderThatCannotBeReadIsNamedWithTheReason) {
  write_file(folder_ + "/file", {""});
  for (const std::string name : {"missing", "file"}) {
    try {
      entries_of(folder_ + "/" + name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "cannot read the folder " + folder_ + "/" + name + ": " +
                    (name == "file" ? "Not a directory" : "No such file or directory"));
    }
  }
}

TEST_F(Files, AreReadBackAfterTheyWereWritten) {
  const std::string path = folder_ + "/f";
  const auto write = [&](std::string_view text, std::string_view others) {
    NewFile file(path);
    file.write(text);
    // The text covers it when it is written, as far as it goes.
    std::ofstream(path + ".dragoman-new") << others;
    file.finish();
  };
  write("first", "");
  EXPECT_EQ(read_file(path), "first");
  EXPECT_THROW(write("second", "longer than that"), Error);
  EXPECT_EQ(read_file(path), "first");
}

TEST_F(Files, ThatArePrivateStayPrivate) {
  using std::filesystem::perms;
  const auto shared_with = [](const std::string& path) {
    return std::filesystem::status(path).permissions() & (perms::group_all | perms::others_all);
  };
  const std::string path = folder_ + "/f";
  write_file(path, {"old"});
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
  write_file(path, {"new"});
  EXPECT_EQ(shared_with(path), perms::none);
  NewFile file(path);
  EXPECT_EQ(shared_with(path + ".dragoman-new"), perms::none);
  file.write("newer");
  file.finish();
  EXPECT_EQ(shared_with(path), perms::none);
}

TEST_F(Files, OfUsersAreNotTakenForOurs) {
  write_file(folder_ + "/f.new", {"theirs"});
  write_file(folder_ + "/f", {"x"});
  EXPECT_EQ(read_file(folder_ + "/f.new"), "theirs");
}

// What is said before the work is said where the writing would fail, and only there.
TEST_F(Files, WhatCannotBeWrittenIsKnownBefore) {
  const auto fails = [](auto body) {
    try {
      body();
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  write_file(folder_ + "/f", {"x"});
  std::filesystem::create_symlink("f", folder_ + "/link");
  std::filesystem::create_symlink(folder_, folder_ + "/up");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const std::string name : {"f", "new", "link", "up", "up/new", "none/new", "f/new", ".", "/dev/null"}) {
    const bool known = fails([&] { check_writable(name); });
    EXPECT_EQ(known, fails([&] { write_file(name, {"x"}); })) << name;
  }
  for (const std::string name : {"f", "f/new", "a/b", "a/c/", "."}) {
    const bool known = fails([&] { check_writable_folder(name); });
    EXPECT_EQ(known, fails([&] { make_folder(name); })) << name;
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace dragoman::internal
