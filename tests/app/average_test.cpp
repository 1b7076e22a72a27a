// dragoman average, as a user meets it.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "model/files_without_checksums.h"
#include "model/folder.h"
#include "model/small_models.h"
#include "model/weights.h"
#include "train/averaging.h"
#include "train/checkpoints.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class AverageCommand : public testing::Test {
 protected:
  AverageCommand() { set_log_level(LogLevel::warning); }
  ~AverageCommand() override {
    set_log_level(LogLevel::info);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // A model all of whose weights are `value`; its checkpoints of the steps 1, 2, ... hold `of_checkpoints`.
  std::string make(const std::string& name, float value, const std::vector<float>& of_checkpoints = {}) {
    fs::create_directories(path(name));
    write_file(path(name) + "/config.json",
               {nlohmann::json{{"format", 1}, {"model", to_json(small_configs()[0].config)}}.dump()});
    write_file(path(name) + "/shared.spm", {"the words"});
    set(value);
    write_weights(weights_path(path(name)), small_.model.parameters, small_.model.parameters.weights());
    for (size_t i = 0; i < of_checkpoints.size(); ++i) {
      save(name, static_cast<int64_t>(i) + 1, of_checkpoints[i]);
    }
    return path(name);
  }

  void save(const std::string& name, int64_t step, float value,
            CheckpointReason reason = CheckpointReason::on_schedule) {
    set(value);
    const auto entries = flat_entries(small_.model.parameters, small_.model.parameters.weights());
    Checkpoints(path(name) + "/checkpoints", 9).save(step, {}, {{"model.safetensors", entries}}, reason);
  }

  // What all weights of a model are, or NaN where they differ.
  float value_of(const std::string& folder) {
    read_weights(weights_path(folder), small_.model.parameters);
    const float value = small_.model.parameters.list()[0].value.data()[0];
    for (const Parameter& parameter : small_.model.parameters.list()) {
      for (int64_t i = 0; i < parameter.size(); ++i) {
        if (parameter.value.data()[i] != value) return NAN;
      }
    }
    return value;
  }

  void set(float value) { std::ranges::fill(small_.model.parameters.weights(), value); }

  const std::string folder_ = testing::TempDir() + "average";
  SmallModel small_ = SmallModel(small_configs()[0].config, *every_instruction_set().front(), 1);
};

TEST_F(AverageCommand, OfModelsIsTheirMeanAndAModelItself) {
  average({make("a", 1), make("b", 2), make("c", 6), "--out", path("mean")});
  EXPECT_EQ(value_of(path("mean")), 3);
  EXPECT_EQ(read_file(path("mean") + "/shared.spm"), "the words");
  EXPECT_EQ(read_config(path("mean")), read_config(path("a")));
}

TEST_F(AverageCommand, OfAModelsLastCheckpoints) {
  average({make("run", 100, {50, 1, 3}), "--last", "2", "--out", path("mean")});
  EXPECT_EQ(value_of(path("mean")), 2);
}

// What a signal left is there to go on from: an undisturbed run has not got it.
TEST_F(AverageCommand, OfThoseOnSchedule) {
  make("run", 100, {50, 1, 3});
  save("run", 4, 1000, CheckpointReason::extra);
  average({path("run"), "--last", "2", "--out", path("mean")});
  EXPECT_EQ(value_of(path("mean")), 2);
  try {
    average({path("run"), "--last", "4", "--out", path("more")});
    FAIL() << "there are three";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has 3 regular checkpoints, not 4"), std::string::npos)
        << error.what();
  }
}

// What is averaged is what was written: neither a flipped bit nor a NaN gets into the mean.
TEST_F(AverageCommand, RefusesWhatIsDamaged) {
  const auto error_of = [&](const Arguments& arguments) -> std::string {
    try {
      average(arguments);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto flip_last_byte = [](const std::string& file) {
    std::string contents = read_file(file);
    contents.back() ^= 1;
    write_file(file, {contents});
  };
  const std::string a = make("a", 1, {1, 2, 3}), b = make("b", 2), c = make("c", NAN);
  EXPECT_NE(error_of({a, c, "--out", path("mean")}).find(weights_path(c) + " contains non-finite values"),
            std::string::npos);
  flip_last_byte(weights_path(b));
  EXPECT_TRUE(error_of({a, b, "--out", path("mean")}).starts_with(weights_path(b) + " is damaged"));
  const std::string newest = Checkpoints(a + "/checkpoints", 9).list().back().path;
  remove_checksums(weights_path(newest));  // as an earlier version wrote it, but not what the manifest says
  EXPECT_TRUE(error_of({a, "--last", "2", "--out", path("mean")}).starts_with(newest + " is damaged"));
  EXPECT_THROW(average_weights(small_.model.parameters, {weights_path(newest)}), Error);
  EXPECT_FALSE(fs::exists(path("mean")));
}

TEST_F(AverageCommand, RefusesWhatHasNoAverage) {
  const std::string a = make("a", 1, {1}), b = make("b", 2);
  write_file(b + "/shared.spm", {"other words"});
  EXPECT_THROW(average({"--out", path("mean")}), UsageError);
  EXPECT_THROW(average({a, a}), UsageError);
  EXPECT_THROW(average({a, b, "--last", "1", "--out", path("mean")}), UsageError);
  EXPECT_THROW(average({a, "--last", "2", "--out", path("mean")}), Error);  // there is one
  EXPECT_THROW(average({a, b, "--out", path("mean")}), Error);
  EXPECT_FALSE(fs::exists(path("mean")));
  EXPECT_THROW(average({a, a, "--out", b}), UsageError);  // nothing is overwritten
  EXPECT_EQ(value_of(b), 2);
}

}  // namespace
}  // namespace dragoman::internal
