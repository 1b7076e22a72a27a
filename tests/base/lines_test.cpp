#include "base/lines.h"

#include <unistd.h>

#include <cstdio>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using Lines = std::vector<std::string>;

Lines read_all(const std::string& path) {
  Lines lines;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.number(), static_cast<int64_t>(lines.size()));
  }
  return lines;
}

std::string error_of(const std::string& path) {
  try {
    read_all(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class LinesTest : public testing::Test {
 protected:
  Lines lines(const std::string& contents) { return read_all(folder.write("text", contents)); }

  // The file, compressed by the tool of this name.
  std::string compressed(const std::string& tool, const std::string& contents, const std::string& name) {
    folder.write(name + ".plain", contents);
    const std::string out = folder.path(name);
    EXPECT_EQ(std::system(fmt::format("{} -c < '{}.plain' > '{}'", tool, out, out).c_str()), 0);
    return out;
  }

  TemporaryFolder folder;
};

TEST_F(LinesTest, OtherCompressionsAndEncodingsAreNamed) {
  for (const auto& [beginning, said] : {std::pair{std::string("\xfd"
                                                              "7zXZ\0\0",
                                                              7),
                                                  "xz"},
                                        {std::string("BZh91AY&SY"), "bzip2"},
                                        {std::string("BZh51AY&SY"), "bzip2"},
                                        {std::string("\xff\xfe"
                                                     "a\0",
                                                     4),
                                         "UTF-16"},
                                        {std::string("\xfe\xff\0a", 4), "UTF-16"}})
    EXPECT_NE(error_of(folder.write("text", beginning)).find(said), std::string::npos) << said;
  EXPECT_EQ(lines("BZh!\n"), Lines{"BZh!"});
}

TEST_F(LinesTest, EndAtLfOrCrLfOrTheFilesEnd) {
  EXPECT_EQ(lines(""), Lines{});
  EXPECT_EQ(lines("\n"), Lines{""});
  EXPECT_EQ(lines("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\r\nb\r\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\r\n\r\n\nb"), (Lines{"a", "", "", "b"}));
  EXPECT_EQ(lines("a\rb\n"), Lines{"a\rb"});
  EXPECT_EQ(lines("a\r\r\n"), Lines{"a\r"});
}

TEST_F(LinesTest, ByteOrderMarkIsDroppedAtTheVeryStartOnly) {
  EXPECT_EQ(lines("\xEF\xBB\xBF"
                  "a\n\xEF\xBB\xBF"
                  "b\n"),
            (Lines{"a",
                   "\xEF\xBB\xBF"
                   "b"}));
  EXPECT_EQ(lines("\xEF\xBB\xBF"), Lines{""});
  EXPECT_EQ(lines("\xEF\xBB"), Lines{"\xEF\xBB"});
}

TEST_F(LinesTest, NoOtherCharacterEndsALine) {
  const std::string line =
      "a\xE2\x80\xA8"
      "b\xE2\x80\xA9"
      "c\xC2\x85"
      "d\x0B"
      "e\x0C"
      "f\x1C"
      "g";
  EXPECT_EQ(lines(line + "\nh\n"), (Lines{line, "h"}));
}

TEST_F(LinesTest, NulBytesAndInvalidBytesArePassedOn) {
  const std::string nul("a\0b", 3);
  EXPECT_EQ(lines(nul + "\n\xFF\xFE\n"), (Lines{nul, "\xFF\xFE"}));
}

TEST_F(LinesTest, LongLinesAndManyLines) {
  const std::string megabyte(1 << 20, 'x');
  EXPECT_EQ(lines(megabyte + "\n" + megabyte + "y\nz"), (Lines{megabyte, megabyte + "y", "z"}));
  std::string text;
  Lines wanted;
  for (int i = 0; i < 50'000; ++i) {
    wanted.push_back(std::string(static_cast<size_t>(i % 7), 'a') + std::to_string(i));
    text += wanted.back() + (i % 2 ? "\r\n" : "\n");
  }
  EXPECT_EQ(lines(text), wanted);
}

TEST_F(LinesTest, CompressedFilesReadAsPlainOnes) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  const Lines wanted = lines(text);
  EXPECT_EQ(read_all(compressed("gzip", text, "a")), wanted);
  EXPECT_EQ(read_all(compressed("zstd -q", text, "b.txt")), wanted);
  EXPECT_EQ(read_all(compressed("gzip", "", "c")), Lines{});
  EXPECT_EQ(read_all(compressed("zstd -q", "", "d")), Lines{});
}

TEST_F(LinesTest, SeveralMembersAreOneText) {
  for (const std::string tool : {"gzip", "zstd -q"}) {
    const std::string one = read_file(compressed(tool, "a\nb", "one")),
                      two = read_file(compressed(tool, "c\n", "two"));
    EXPECT_EQ(read_all(folder.write("both", one + two)), (Lines{"a", "bc"})) << tool;
  }
  const std::string one = read_file(folder.path("one"));
  EXPECT_EQ(
      read_all(folder.write("padded", read_file(compressed("gzip", "a\n", "g")) + std::string(512, '\0'))),
      Lines{"a"});
}

// A frame whose header asks for a window of 2 GiB, as `zstd --long=31` writes it for a pipe.
TEST_F(LinesTest, TheLargestWindowsOfZstandardAreRead) {
  constexpr char frame[] =
      "\x28\xb5\x2f\xfd\x00\xa8\x11\x00\x00"
      "a\n";
  EXPECT_EQ(lines(std::string(frame, sizeof frame - 1)), Lines{"a"});
}

TEST_F(LinesTest, FilesThatAreCutOffAnywhereSaySo) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i * i) + "\n";
  for (const std::string tool : {"gzip", "zstd -q"}) {
    const std::string whole = read_file(compressed(tool, text, "whole"));
    for (size_t left = 5; left < whole.size(); left += 1 + whole.size() / 40) {
      const std::string path = folder.write("cut", whole.substr(0, left));
      const std::string error = error_of(path);
      EXPECT_TRUE(error.starts_with(path + ":")) << error;
      EXPECT_NE(error.find("the file is truncated"), std::string::npos)
          << tool << " " << left << ": " << error;
    }
  }
}

TEST_F(LinesTest, DamagedFilesSayWhere) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "line " + std::to_string(i * i) + "\n";
  for (const std::string tool : {"gzip", "zstd -q --check"}) {
    std::string whole = read_file(compressed(tool, text, "whole"));
    for (size_t at = whole.size() / 2; at < whole.size() / 2 + 16; ++at)
      whole[at] = static_cast<char>(~whole[at]);
    const std::string path = folder.write("damaged", whole);
    const std::string error = error_of(path);
    EXPECT_TRUE(error.starts_with(path + ":")) << error;
    EXPECT_NE(error.find("damaged"), std::string::npos) << error;
  }
}

TEST_F(LinesTest, WhatCannotBeReadIsAnErrorWithItsName) {
  EXPECT_EQ(error_of(folder.path("none")),
            folder.path("none") + " cannot be opened: No such file or directory");
  EXPECT_EQ(error_of(folder.path("")), folder.path("") + " cannot be read: Is a directory");
}

// Two short lines through a pipe that stays open: both must come before anything else is written.
TEST_F(LinesTest, StandardInputGivesALineAsSoonAsItIsWhole) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int standard_input = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  ASSERT_EQ(write(ends[1], "(\n", 2), 2);  // as Zstandard's magic begins
  LineReader reader("-");
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "(");
  EXPECT_FALSE(reader.ready());
  ASSERT_EQ(write(ends[1], "b\n\xFF", 3), 3);
  EXPECT_TRUE(reader.ready());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "b");
  ASSERT_EQ(write(ends[1], "c", 1), 1);
  EXPECT_FALSE(reader.ready()) << "next() would wait for the rest of the line";
  close(ends[1]);
  EXPECT_TRUE(reader.ready());
  EXPECT_FALSE(reader.at_end()) << "there is a line without an end";
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line,
            "\xFF"
            "c");
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.ready()) << "at its end there is nothing to wait for";
  EXPECT_FALSE(reader.next(line));
  dup2(standard_input, STDIN_FILENO);
  close(standard_input);
  close(ends[0]);
}

TEST(IsText, TakesUtf8AndNothingElse) {
  for (const char* good : {"", "abc", "h\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF",
                           "\xEE\x80\x80", "\xF4\x8F\xBF\xBF",
                           "12345678\xC3\xA9"
                           "12345678",
                           "\x7F\x01"}) {
    EXPECT_TRUE(is_text(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC3", "\xC3(", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "1234567\xFF",
        "12345678\x80"
        "1234567"}) {
    EXPECT_FALSE(is_text(bad)) << bad;
  }
  for (const size_t length : {1, 7, 8, 9, 23}) {
    for (size_t at = 0; at < length; ++at) {
      std::string text(length, 'a');
      text[at] = '\0';
      EXPECT_FALSE(is_text(text)) << length << " " << at;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
