// What version 0.1.0 wrote is read as it was then: its recipes with keys that have other names now, a run stopped in
// the middle, its checkpoint, a model in floats and one in int8. The files in fixtures/version_0_1 are that program's,
// by its portable kernels; step_12.safetensors is where its run ended.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "base/files.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class EarlierVersion : public testing::Test {
 protected:
  EarlierVersion() {
    fs::copy(fs::path(DRAGOMAN_SOURCE_DIR) / "tests/golden/fixtures/version_0_1", folder_,
             fs::copy_options::recursive);
  }
  ~EarlierVersion() override { fs::remove_all(folder_); }

  // Runs the program in the folder, by the portable kernels; what it prints.
  std::string run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_ + "' && DRAGOMAN_ISA=baseline '" DRAGOMAN_PROGRAM "' " +
                                arguments + " > out.txt 2> log.txt";
    EXPECT_EQ(std::system(command.c_str()), 0) << read("log.txt");
    return read("out.txt");
  }
  std::string read(const std::string& name) const { return read_file(folder_ + "/" + name); }

  const std::string folder_ = testing::TempDir() + "version_0_1";
};

TEST_F(EarlierVersion, ModelsTranslateToTheSameBytes) {
  EXPECT_EQ(run("translate --model run --beam 3 --max-length 12 six.txt"), read("beam3.txt"));
  EXPECT_EQ(run("translate --model int8 --beam 1 --max-length 12 six.txt"), read("int8_greedy.txt"));
  EXPECT_EQ(run("score --model run --source source.txt --target target.txt"), read("scores.txt"));
}

TEST_F(EarlierVersion, AStoppedRunGoesOn) {
  run("train recipe.toml --out run --resume require");
  const auto got = SafetensorsFile::open(folder_ + "/run/model.safetensors"),
             wanted = SafetensorsFile::open(folder_ + "/step_12.safetensors");
  ASSERT_EQ(got.entries().size(), wanted.entries().size());
  for (const TensorEntry& entry : wanted.entries()) {
    const int64_t columns = entry.shape.back(), rows = entry.shape.size() > 1 ? entry.shape[0] : 1;
    const auto a = got.floats(entry.name, rows, columns), b = wanted.floats(entry.name, rows, columns);
    // Another compiler may call another exp or cos when weights and rates begin: near, and no more is promised.
    for (size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << entry.name << " " << i;
  }
}

TEST_F(EarlierVersion, ItsKeysHaveOtherNamesNow) {
  run("train recipe.toml --out anew --training.max_steps 1 --training.longest_silence 4");
  EXPECT_NE(read("anew/config.json").find("\"heartbeat_timeout\": 4"), std::string::npos);
}

TEST_F(EarlierVersion, ItsFilesHaveNoChecksums) {
  const std::string before = run("info --verify run");
  EXPECT_NE(before.find("model.safetensors: OK, without checksums"), std::string::npos) << before;
  run("train recipe.toml --out run --resume require");
  const std::string now = run("info --verify run");
  EXPECT_NE(now.find("model.safetensors: OK\n"), std::string::npos) << now;
  EXPECT_NE(read("run/config.json").find("vocabulary_checksums"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
