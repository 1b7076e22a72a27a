// Which checkpoint is taken, and which are removed.
#include "train/checkpoints.h"

#include <filesystem>
#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "temporary_folder.h"
#include "train/finite.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class CheckpointsTest : public testing::Test {
 protected:
  void save(int64_t step, float value, int64_t best_step = -1) {
    const std::vector<float> values = {1, value, 3};
    const TensorEntry entry = {"decoder.w", Dtype::f32, {3}, std::as_bytes(std::span(values))};
    checkpoints_.save(step, {{"a", 1}}, {{"model.safetensors", {entry}}}, CheckpointReason::on_schedule,
                      best_step);
  }

  void flip_a_bit(int64_t step) {
    const std::string path = checkpoints_.of_step(step)->path + "/model.safetensors";
    std::string contents = read_file(path);
    contents.back() ^= 1;
    write_file(path, {contents});
  }

  std::set<int64_t> steps() const {
    std::set<int64_t> found;
    for (const CheckpointInfo& one : checkpoints_.list()) found.insert(one.step);
    return found;
  }

  TemporaryFolder folder_;
  const Checkpoints checkpoints_{folder_.path("checkpoints"), 2};
};

TEST_F(CheckpointsTest, WhatIsDamagedOrNotFiniteIsSkippedWithAWarningThatNamesIt) {
  save(2, 1);
  save(4, std::numeric_limits<float>::quiet_NaN());
  save(6, -std::numeric_limits<float>::infinity());
  save(8, 1);
  flip_a_bit(8);
  set_log_level(LogLevel::warning);
  testing::internal::CaptureStderr();
  EXPECT_EQ(checkpoints_.newest()->step, 2);
  const std::string log = testing::internal::GetCapturedStderr();
  for (const char* part : {"step-00000008: model.safetensors has the wrong checksum",
                           "step-00000006: model.safetensors has values in decoder.w that are not finite",
                           "step-00000004: model.safetensors has values in decoder.w that are not finite"})
    EXPECT_NE(log.find(part), std::string::npos) << log;
  set_log_level(LogLevel::off);
  EXPECT_EQ(checkpoints_.newest_before(7)->step, 2);
  EXPECT_FALSE(checkpoints_.of_step(6));
}

// Else the run would start over.
TEST_F(CheckpointsTest, AFolderThatCannotBeReadIsNotTakenForEmpty) {
  EXPECT_FALSE(checkpoints_.newest());
  folder_.write("checkpoints", "a file where a folder should be");
  EXPECT_THROW(checkpoints_.newest(), Error);
  EXPECT_THROW(checkpoints_.list(), Error);
}

TEST_F(CheckpointsTest, TheBestOfEachThatStaysIsKept) {
  save(1, 1, 1);
  save(2, 1, 1);
  save(3, 1, 3);
  save(4, 1, 3);
  save(5, 1, 5);
  save(6, 1, 5);
  checkpoints_.prune();
  EXPECT_EQ(steps(), (std::set<int64_t>{5, 6}));
  save(7, 1, 5);
  save(8, 1, 8);
  checkpoints_.prune();
  EXPECT_EQ(steps(), (std::set<int64_t>{5, 7, 8})) << "a rollback to 7 needs 5";
}

// An error while reading may pass: only what is incomplete is removed, and what is damaged does not count.
TEST_F(CheckpointsTest, WhatIsDamagedIsNotRemoved) {
  for (const int64_t step : {1, 2, 3, 4}) save(step, 1);
  fs::resize_file(folder_.path("checkpoints/step-00000003/model.safetensors"), 10);
  fs::remove(folder_.path("checkpoints/step-00000002/manifest.json"));
  checkpoints_.prune();
  EXPECT_EQ(steps(), (std::set<int64_t>{1, 4}));
  EXPECT_TRUE(fs::exists(folder_.path("checkpoints/step-00000003/manifest.json")));
  EXPECT_FALSE(fs::exists(folder_.path("checkpoints/step-00000002")));
}

TEST(Finite, FindsOneOddValueAnywhere) {
  std::vector<float> values(10'000, std::numeric_limits<float>::max());
  EXPECT_TRUE(all_finite(values));
  EXPECT_TRUE(all_finite({}));
  for (const size_t i : {0, 4095, 4096, 9999}) {
    for (const float odd : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      values[i] = odd;
      EXPECT_FALSE(all_finite(values)) << i;
    }
    values[i] = 0;
  }
}

}  // namespace
}  // namespace dragoman::internal
