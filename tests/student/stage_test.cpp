#include "student/stage.h"

#include <filesystem>

#include "base/files.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

TEST(Stages, KeepWhatWasMadeOfTheSame) {
  const TemporaryFolder folder;
  {
    Stage stage(folder.path("student"), "clean", {{"limit", 5}});
    EXPECT_FALSE(stage.is_done());
    write_file(stage.path("source"), {"one\n"});
  }
  {
    Stage killed(folder.path("student"), "clean", {{"limit", 5}});
    EXPECT_FALSE(killed.is_done());
    EXPECT_EQ("one\n", read_file(killed.path("source"))) << "goes on where it was killed";
    killed.finish({{"kept", 1}});
  }
  const Stage done(folder.path("student"), "clean", {{"limit", 5}});
  EXPECT_TRUE(done.is_done());
  EXPECT_EQ(1, done.report().at("kept"));
}

TEST(Stages, BeginAnewFromOtherInputs) {
  const TemporaryFolder folder;
  Stage first(folder.path("student"), "clean", {{"limit", 5}});
  write_file(first.path("source"), {"one\n"});
  first.finish({});
  const Stage other(folder.path("student"), "clean", {{"limit", 6}});
  EXPECT_FALSE(other.is_done());
  EXPECT_FALSE(std::filesystem::exists(other.path("source")));
}

TEST(Stages, BeginAnewWhereTheRecordIsDamaged) {
  const TemporaryFolder folder;
  const std::string record = folder.path("student/stages/clean.json");
  Stage first(folder.path("student"), "clean", {{"limit", 5}});
  write_file(first.path("source"), {"one\n"});
  first.finish({});
  const std::string whole = read_file(record);
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string("[]"), std::string()}) {
    write_file(record, {damaged});
    const Stage stage(folder.path("student"), "clean", {{"limit", 5}});
    EXPECT_FALSE(stage.is_done()) << damaged;
    EXPECT_FALSE(std::filesystem::exists(stage.path("source"))) << damaged;
  }
}

TEST(Stages, AreNotDoneFromWhenTheyAreReopened) {
  const TemporaryFolder folder;
  Stage stage(folder.path("student"), "student", {{"limit", 5}});
  write_file(stage.path("model"), {"weights"});
  stage.finish({{"steps", 4}});
  stage.reopen();
  const Stage killed(folder.path("student"), "student", {{"limit", 5}});
  EXPECT_FALSE(killed.is_done());
  EXPECT_EQ("weights", read_file(killed.path("model"))) << "it goes on from there";
}

TEST(Stages, OfAnotherProcessAreNotTouched) {
  const TemporaryFolder folder;
  Stage first(folder.path("student"), "clean", {{"limit", 5}});
  first.finish({{"kept", 1}});
  const Stage other =
      Stage::opened_by_another(folder.path("elsewhere"), "clean", nlohmann::ordered_json(first.record()));
  EXPECT_TRUE(other.is_done());
  EXPECT_EQ(1, other.report().at("kept"));
  EXPECT_EQ(folder.path("elsewhere/clean"), other.folder());
  EXPECT_FALSE(std::filesystem::exists(folder.path("elsewhere")));
}

TEST(Stages, ChecksumsAreOfContents) {
  const TemporaryFolder folder;
  const std::string one = folder.write("one", "text"), same = folder.write("same", "text"),
                    other = folder.write("other", "texts");
  EXPECT_EQ(file_checksum(one), file_checksum(same));
  EXPECT_NE(file_checksum(one), file_checksum(other));
  EXPECT_NE(file_checksum(one), file_checksum(folder.write("empty", "")));

  for (const char* model : {"a", "b"}) {
    make_folder(folder.path(model));
    write_file(folder.path(model) + "/config.json", {"{}"});
  }
  EXPECT_EQ(model_checksum(folder.path("a")), model_checksum(folder.path("b")));
  write_file(folder.path("b/metrics.jsonl"), {"{}"});
  EXPECT_EQ(model_checksum(folder.path("a")), model_checksum(folder.path("b")))
      << "a history is not the model";
  write_file(folder.path("b/model.safetensors"), {"weights"});
  EXPECT_NE(model_checksum(folder.path("a")), model_checksum(folder.path("b")));
}

}  // namespace
}  // namespace dragoman::internal
