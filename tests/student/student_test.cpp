// Whole students, of a few updates: what is done again and what is not, and that stops change nothing.
#include "student/student.h"

#include <filesystem>
#include <map>

#include "base/files.h"
#include "dragoman/translator.h"
#include "model/folder.h"
#include "student/plan.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class Students : public testing::Test {
 protected:
  // Options of a small one, as a recipe would have them.
  StudentRecipe recipe(const std::string& further = "") {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe(
        "[student]\nteacher = [\"" DRAGOMAN_SOURCE_DIR
        "/docs/model\"]\nsize = \"own\"\nbeam = 2\ncandidates = 2\n"
        "[data]\nfrom = \"en\"\nto = \"fr\"\ntsv = [\"" +
            corpus +
            "\"]\nhold_out = 3\n"
            "[vocabulary]\nsize = 60\nshared = true\n"
            "[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nheads = 2\nd_ff = 32\n"
            "tied = \"all\"\ndecoder_self_attention = \"ssru\"\n"
            "[training]\nmax_steps = 4\nbatch_tokens = 64\nthreads = 1\ndevice = \"cpu\"\n",
        "recipe");
    if (!further.empty()) options.read_recipe(further, "further");
    validate(recipe);
    return recipe;
  }

  std::string make(const std::string& name, const StudentRecipe& recipe) {
    make_student(recipe, folder.path(name));
    return folder.path(name);
  }

  static std::string weights_of(const std::string& student) {
    return read_file(weights_path(student + "/int8"));
  }

  const TemporaryFolder folder;
  const std::string corpus =
      folder.write("corpus.tsv",
                   "I love you.\tJe t'aime.\nGood morning!\tBonjour !\n\tvide\n"
                   "Where is the station?\tOù est la gare ?\nThank you.\tMerci.\n"
                   "She reads.\tElle lit.\nHe reads a book.\tIl lit un livre.\n"
                   "I am cold.\tJ'ai froid.\nCome here.\tViens ici.\nTom is tired.\tTom est fatigué.\n");
};

TEST_F(Students, AreModelsThatTranslate) {
  const std::string student = make("student", recipe());
  dragoman::Translator translator(student + "/int8", {.device = "cpu", .threads = 1});
  EXPECT_EQ("int8", translator.info().precision);
  translator.translate("Come here.", {{"shortlist", true}});  // which it has
  const std::string config = read_config(student + "/int8").at("search").dump();
  EXPECT_EQ(R"({"beam":1,"shortlist":true})", config);
}

TEST_F(Students, CountEveryPair) {
  const nlohmann::ordered_json result = make_student(recipe(), folder.path("student"));
  const auto& pairs = result.at("clean").at("pairs");
  EXPECT_EQ(10, pairs.at("read"));
  EXPECT_EQ(3, pairs.at("held_out"));
  EXPECT_EQ(1, pairs.at("left_out").at("empty"));
  EXPECT_EQ(6, pairs.at("kept"));
  EXPECT_EQ(6, result.at("taught").at("parallel").at("lines"));
  EXPECT_EQ(3, result.at("comparison").at("sentences"));
  EXPECT_EQ(3u, result.at("comparison").at("models").size());
}

TEST_F(Students, DoNothingTwice) {
  const std::string student = make("student", recipe());
  std::map<std::string, fs::file_time_type> written;
  for (const auto& entry : fs::recursive_directory_iterator(student))
    if (entry.is_regular_file()) written[entry.path()] = entry.last_write_time();
  make("student", recipe());
  for (const auto& entry : fs::recursive_directory_iterator(student)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(written[entry.path()], entry.last_write_time()) << entry.path();
  }
}

TEST_F(Students, RepeatOnlyWhatDependsOnAChange) {
  const std::string student = make("student", recipe());
  const auto time_of = [&](const char* file) { return fs::last_write_time(student + file); };
  const auto taught = time_of("/taught/parallel"), trained = time_of("/student/model.safetensors");
  make("student", recipe("[training]\nseed = 2\n"));
  EXPECT_EQ(taught, time_of("/taught/parallel"));
  EXPECT_NE(trained, time_of("/student/model.safetensors"));
  make("student", recipe("[student]\ncandidates = 1\n"));
  EXPECT_NE(taught, time_of("/taught/parallel"));
}

TEST_F(Students, TrainOnWhenTheyMayTakeLonger) {
  const std::string longer = make("longer", recipe("[training]\nmax_steps = 7\n"));
  const std::string student = make("student", recipe());
  EXPECT_NE(weights_of(longer), weights_of(student));
  const auto prepared = fs::last_write_time(student + "/student/data/prepared.json");
  make("student", recipe("[training]\nmax_steps = 7\n"));
  EXPECT_EQ(prepared, fs::last_write_time(student + "/student/data/prepared.json"));
  EXPECT_EQ(weights_of(longer), weights_of(student));
}

TEST_F(Students, LearnFromFurtherSources) {
  const std::string text = folder.write("text", "Come here.\nI read.\n\nI read.\n");
  const nlohmann::ordered_json result =
      make_student(recipe("[student]\nmonolingual = [\"" + text + "\"]\n"), folder.path("student"));
  EXPECT_EQ(4, result.at("clean").at("monolingual").at("read"));
  EXPECT_EQ(2, result.at("taught").at("monolingual").at("lines")) << "each once";
}

TEST(StudentRecipes, AreValid) {
  for (const auto& entry : fs::directory_iterator(DRAGOMAN_SOURCE_DIR "/recipes/students")) {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe_file(entry.path());
    take_size(options, recipe.student.size);
    EXPECT_NO_THROW(validate(recipe)) << entry.path();
  }
}

TEST_F(Students, ArePlanned) {
  const std::vector<PlannedStage> stages = plan_student(recipe());
  ASSERT_EQ(4u, stages.size());
  for (const PlannedStage& stage : stages) EXPECT_GT(stage.bytes, 0) << stage.name;
  EXPECT_GT(stages[1].seconds, 0);
  EXPECT_GT(stages[2].seconds, 0);
  EXPECT_NE(std::string::npos, plan_table(stages, folder.path("student")).find("9 pairs"));
  EXPECT_FALSE(fs::exists(folder.path("student"))) << "a plan writes nothing";
}

}  // namespace
}  // namespace dragoman::internal
