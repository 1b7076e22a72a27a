// Damaged model folders: dragoman info --verify says what is damaged, and no command uses it.
#include <nlohmann/json.hpp>

#include "app/translating_commands.h"
#include "model/files_without_checksums.h"
#include "text/vocabulary_checksums.h"
#include "train/checkpoints.h"

namespace dragoman::internal {
namespace {

class DamagedFolder : public TranslatingCommands {
 protected:
  DamagedFolder() {
    nlohmann::json config = read_config(folder_.path);
    config["vocabulary_checksums"] = vocabulary_checksums(folder_.path);
    write("config.json", config.dump());
  }

  // One line for each file that is damaged, and one in the end.
  void expect_damaged(const std::string& file, const std::string& summary) {
    const std::string said = run("info --verify " + folder_.path, "", 1);
    Lines damaged = lines_of(said);
    std::erase_if(damaged, [](const std::string& line) { return line.ends_with(": OK"); });
    ASSERT_EQ(damaged.size(), 1U) << said;
    EXPECT_TRUE(damaged[0].starts_with(file + " is damaged")) << damaged[0];
    EXPECT_NE(errors_.find(summary), std::string::npos) << errors_;
  }
  void flip(const std::string& path, size_t before_end) {
    std::string contents = read_file(path);
    contents[contents.size() - before_end] ^= 4;
    write_file(path, {contents});
  }
};

TEST_F(DamagedFolder, IsNotWhatAWholeOneIs) {
  EXPECT_EQ(run("info --verify " + folder_.path),
            file("config.json: OK\n") + file("model.safetensors: OK\n") + file("shared.spm: OK\n"));
  remove_checksums(weights_path(folder_.path));
  EXPECT_NE(run("info --verify " + folder_.path).find("model.safetensors: OK, without checksums"),
            std::string::npos);
}

TEST_F(DamagedFolder, Weights) {
  flip(file("model.safetensors"), 1000);
  expect_damaged(file("model.safetensors"), "1 of 3 files in " + folder_.path + " are damaged");
  for (const std::string& command : {std::string("translate"), std::string("inspect --out - --text cat"),
                                     "quantize --out " + file("small")}) {
    run(command + " --model " + folder_.path, "The cat sleeps.\n", 1);
    EXPECT_NE(errors_.find("model.safetensors is damaged: tensor"), std::string::npos) << command << errors_;
  }
}

TEST_F(DamagedFolder, Vocabulary) {
  flip(file("shared.spm"), 20);
  expect_damaged(file("shared.spm"), "1 of 3 files");
  run("translate --model " + folder_.path, "The cat sleeps.\n", 1);
  EXPECT_NE(errors_.find("shared.spm is damaged"), std::string::npos) << errors_;
}

TEST_F(DamagedFolder, Checkpoints) {
  const std::vector<float> values(100, 1.5F);
  const Checkpoints checkpoints(file("checkpoints"), 3);
  for (const int64_t step : {1, 2})
    checkpoints.save(step, {},
                     {{"a.safetensors", {{"a", Dtype::f32, {100}, std::as_bytes(std::span(values))}}}});
  EXPECT_NE(run("info --verify " + folder_.path).find("step-00000002: OK"), std::string::npos);
  flip(file("checkpoints/step-00000001/a.safetensors"), 3);
  expect_damaged(file("checkpoints/step-00000001"), "1 of 5 files");
}

TEST_F(DamagedFolder, AnIncompleteCheckpointIsNamedAndNoDamage) {
  std::filesystem::create_directories(file("checkpoints/step-00000003"));
  EXPECT_NE(run("info --verify " + folder_.path).find("step-00000003: incomplete"), std::string::npos);
}

TEST_F(DamagedFolder, WithoutItsVocabularyOrItsWeights) {
  for (const std::string name : {"shared.spm", "model.safetensors"}) {
    std::filesystem::rename(file(name), file("away"));
    EXPECT_NE(run("info --verify " + folder_.path, "", 1).find(name + ": No such file"), std::string::npos)
        << name;
    EXPECT_NE(errors_.find("1 of 3 files"), std::string::npos) << errors_;
    std::filesystem::rename(file("away"), file(name));
  }
}

TEST_F(DamagedFolder, ThatIsOnlyPreparedIsNotDamaged) {
  const std::string prepared = file("new");
  write("pairs.tsv", "a b\tc d\nb a\td c\n");
  write("recipe.toml", "[data]\ntsv = \"" + file("pairs.tsv") +
                           "\"\n[vocabulary]\nkind = \"char\"\nsize = 0\n[training]\nmax_steps = 1\n");
  run("prepare " + file("recipe.toml") + " --out " + prepared);
  EXPECT_NE(run("info --verify " + prepared).find("prepared, but not trained yet"), std::string::npos);
  std::filesystem::copy(file("model.safetensors"), prepared);
  EXPECT_NE(run("info --verify " + prepared, "", 1).find("it has no config.json"), std::string::npos);
}

TEST_F(DamagedFolder, ThatCannotBeRead) {
  std::filesystem::create_symlink("loop", file("loop"));
  run("info " + file("loop"), "", 1);
  EXPECT_NE(errors_.find("cannot read " + file("loop/config.json") + ": Too many"), std::string::npos)
      << errors_;
}

TEST_F(DamagedFolder, AnEndlessKeyIsSaidInShort) {
  nlohmann::json config = read_config(folder_.path);
  config["model"][std::string(1'000'000, 'x')] = 1;
  write("config.json", config.dump());
  run("info " + folder_.path, "", 2);
  EXPECT_NE(errors_.find("unknown option model.xxx"), std::string::npos);
  EXPECT_LT(errors_.size(), 400U);
}

}  // namespace
}  // namespace dragoman::internal
