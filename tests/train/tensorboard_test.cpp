// Event files against TensorBoard's own writer (tests/golden/make_tensorboard_golden.py, which reads ours, too).
#include "train/tensorboard.h"

#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

namespace board = tensorboard;

TEST(TensorBoard, WritesTheBytesOfItsOwnWriter) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::string long_tag = "valid/";
  for (int i = 0; i < 40; ++i) long_tag += "long";
  const std::string bytes =
      board::record(board::version_event(1700000000.25)) +
      board::record(board::start_event(1700000000.5, 1001)) +
      board::record(board::scalar_event(1700000001.0, 0, "train/loss", 9.5f)) +
      board::record(board::scalar_event(1700000002.0, 1, "train/loss", 0.0f)) +
      board::record(board::scalar_event(1700000003.0, 5'000'000'000, "train/loss", nan)) +
      board::record(board::scalar_event(1700000004.0, 300, long_tag, -1.0e-30f)) +
      board::record(board::text_event(1700000005.0, 300, "sample/1", "Je t'aime. — «été»"));
  EXPECT_EQ(bytes, read_file(DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/tensorboard.events"));
}

TEST(TensorBoard, Crc32cIsThatOfRfc3720) {
  EXPECT_EQ(board::crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(board::crc32c(std::string(32, '\0')), 0x8a9136aau);
}

TEST(TensorBoard, TextIsShownLiterally) {
  EXPECT_EQ(board::as_markdown("*a*_b_ <i> & #1\nEnde."), "\\*a\\*\\_b\\_ &lt;i\\> &amp; \\#1  \nEnde\\.");
}

class TensorBoardFolder : public testing::Test {
 protected:
  ~TensorBoardFolder() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "board";
};

TEST_F(TensorBoardFolder, AWriterMakesTheFolderAndItsOwnFile) {
  TensorBoardWriter first(folder_ + "/inner"), second(folder_ + "/inner", 7);
  EXPECT_NE(first.path(), second.path());
  first.scalar("loss", 1, 2.5);
  // Each file: a version; the second says where it takes over; the first has a scalar.
  const size_t version = board::record(board::version_event(0)).size();
  EXPECT_EQ(read_file(first.path()).size(),
            version + board::record(board::scalar_event(1, 1, "loss", 2)).size());
  EXPECT_EQ(read_file(second.path()).size(), version + board::record(board::start_event(1, 7)).size());
  EXPECT_NE(first.path().find("/events.out.tfevents."), std::string::npos);
}

TEST_F(TensorBoardFolder, AFolderThatCannotBeCreatedIsAnError) {
  EXPECT_THROW(TensorBoardWriter("/dev/null/board"), Error);
}

}  // namespace
}  // namespace dragoman::internal
