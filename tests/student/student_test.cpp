// Whole students, of a few updates: what they learn from, and what the recipe and the plan say of them.
#include "student/student.h"

#include <filesystem>
#include <numeric>

#include "base/lines.h"
#include "dragoman/models.h"
#include "dragoman/translator.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "parallel/thread_processes.h"
#include "search/shortlist.h"
#include "student/plan.h"
#include "student/small_students.h"
#include "student/stages.h"
#include "student/training.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

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

TEST_F(Students, LearnFromFurtherSources) {
  const std::string text = folder.write("text", "Come here.\nI read.\n\nI read.\n");
  const nlohmann::ordered_json result =
      make_student(recipe("[student]\nmonolingual = [\"" + text + "\"]\n"), folder.path("student"));
  EXPECT_EQ(4, result.at("clean").at("monolingual").at("read"));
  EXPECT_EQ(2, result.at("taught").at("monolingual").at("lines")) << "each once";
}

// An epoch has each source once, with one of its translations: here the teacher finds two.
TEST_F(Students, LearnSeveralTranslations) {
  const std::string text = folder.write("text", "Come here.\nI read.\n");
  const StudentRecipe two = recipe("[student]\ntranslations = 9\nmonolingual = [\"" + text + "\"]\n");
  const nlohmann::ordered_json result = make_student(two, folder.path("student"));
  EXPECT_EQ(6, result.at("taught").at("parallel").at("lines"));
  const DataConfig data = training_recipe(two, folder.path("student")).data;
  EXPECT_EQ(std::vector<double>(4, 0.5), data.weights);
  EXPECT_EQ(data.source[0], data.source[1]);
  const std::string taught = folder.path("student/taught/"), further = folder.path("student/monolingual/");
  EXPECT_EQ(std::vector<std::string>(
                {taught + "parallel", taught + "parallel-2", further + "taught", further + "taught-2"}),
            data.target);
}

// By any model: this one takes the lines for English.
TEST_F(Students, LearnFromTextThatWasTranslatedBack) {
  const std::string text = folder.write("text", "Come here.\nI read.\n\nI read.\nGood morning!\n");
  const StudentRecipe with_text =
      recipe("[student]\nmonolingual_target = [\"" + text +
             "\"]\nbackward = [\"" DRAGOMAN_SOURCE_DIR "/docs/model\"]\nbackward_share = 0.6\n");
  const nlohmann::ordered_json result = make_student(with_text, folder.path("student"));
  EXPECT_EQ(3, result.at("backward").at("lines")) << "each once";
  EXPECT_EQ("Come here.\nI read.\nGood morning!\n", read_file(folder.path("student/backward/target")));
  LineReader sources(folder.path("student/tagged/source"));
  for (std::string_view line; sources.next(line);) EXPECT_TRUE(line.starts_with("<BT> ")) << line;

  const DataConfig data = training_recipe(with_text, folder.path("student")).data;
  ASSERT_EQ(2u, data.weights.size());
  EXPECT_EQ(1, data.weights[0]);
  EXPECT_NEAR(3, data.weights[1], 1e-9) << "6 pairs to 3 of these, which are to be 9";
  const std::string translated = read_file(folder.path("student/backward/translated"));
  make_student(with_text, folder.path("again"));
  EXPECT_EQ(translated, read_file(folder.path("again/backward/translated"))) << "samples are reproducible";
}

TEST_F(Students, AreFineTunedInInt8WhereThatIsBetter) {
  const nlohmann::ordered_json result =
      make_student(recipe("[student]\nint8_steps = 2\n"), folder.path("student"));
  const char* kept = result.at("int8").at("tuned").get<bool>() ? "student/tuned" : "student/student";
  dragoman::quantize(folder.path(kept), dragoman::Precision::int8, folder.path("kept"));
  EXPECT_EQ(read_file(weights_path(folder.path("kept"))), weights_of(folder.path("student")));
  EXPECT_TRUE(fs::is_symlink(folder.path("student/tuned/data"))) << "text is prepared once";
  const std::string tuned = read_file(folder.path("student/tuned/model.safetensors"));
  EXPECT_NE(read_file(folder.path("student/student/model.safetensors")), tuned);
  fs::remove(folder.path("student/stages/tuned.json"));
  make_student(recipe("[student]\nint8_steps = 2\n"), folder.path("student"));
  EXPECT_EQ(tuned, read_file(folder.path("student/tuned/model.safetensors")));
  EXPECT_TRUE(fs::exists(folder.path("student/student/data/prepared.json")));
}

// Of the model of docs/model and one of random weights, whichever of them is the fine-tuned one.
TEST_F(Students, AreTheBetterOfTwoInInt8) {
  const std::string good = folder.path("good"), bad = folder.path("bad"), wanted = folder.path("wanted");
  fs::copy(DRAGOMAN_SOURCE_DIR "/docs/model", good);
  const Vocabularies vocabularies = read_vocabularies(good);
  std::vector<int32_t> words(static_cast<size_t>(vocabularies.target->size()));
  std::iota(words.begin(), words.end(), 0);
  const std::vector<std::vector<int32_t>> none(words.size());
  write_shortlist(good, {.frequent = words, .translations = none}, vocabularies);
  fs::copy(good, bad);
  Device device(kernels_for("baseline"), 1);
  Transformer model(read_model_config(bad), device, Buffers::weights);
  model.parameters.initialise(1);
  write_weights(weights_path(bad), model.parameters, model.parameters.weights());
  dragoman::quantize(good, dragoman::Precision::int8, wanted);

  ComparisonSettings validation = {.test = {}, .from = "en", .to = "fr", .device = "cpu", .threads = 1};
  for (int i = 0; i < 10; ++i)
    validation.test.push_back(
        {"I have " + std::to_string(i) + " books.", "J'ai " + std::to_string(i) + " livres."});
  for (const bool tuned_is_better : {false, true}) {
    Stage stage(folder.path("student"), "int8", {{"tuned_is_better", tuned_is_better}});
    quantize_student(tuned_is_better ? bad : good, tuned_is_better ? good : bad, validation, stage);
    EXPECT_EQ(stage.report().at("tuned"), tuned_is_better);
    EXPECT_TRUE(read_file(weights_path(stage.folder())) == read_file(weights_path(wanted)));
  }
}

TEST_F(Students, AreMadeBySeveralProcesses) {
  const StudentRecipe tuned = recipe("[student]\nint8_steps = 1\n");
  run_together(2, [&](Processes& processes) {
    const nlohmann::ordered_json result = make_student(tuned, folder.path("two"), processes);
    EXPECT_EQ(processes.first(), !result.is_null());
  });
  const std::string two = weights_of(folder.path("two"));
  run_together(2, [&](Processes& processes) { make_student(tuned, folder.path("again"), processes); });
  EXPECT_EQ(two, weights_of(folder.path("again")));
  make("one", tuned);
  EXPECT_EQ(read_file(folder.path("one/taught/parallel")), read_file(folder.path("two/taught/parallel")));
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

// All of it goes together: where one part is another, so are the others.
TEST(StudentRecipes, TrainWithMuonUnlessTheySayOtherwise) {
  const auto training_of = [](const std::string& text) {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe(text, "recipe");
    take_size(options, recipe.student.size);
    return recipe.training.training;
  };
  const TrainingConfig training =
      training_of("[student]\nsize = \"tiny\"\n[training]\nlearning_rate = 0.004\n");
  EXPECT_EQ(training.optimizer, Optimizer::muon);
  EXPECT_EQ(training.schedule, Schedule::constant);
  EXPECT_EQ(training.learning_rate, 0.004);
  EXPECT_GT(training.cooldown, 0);
  const TrainingConfig unnamed;
  for (const std::string other : {"optimizer = \"adam\"", "schedule = \"noam\""}) {
    const TrainingConfig with_adam = training_of("[student]\nsize = \"tiny\"\n[training]\n" + other + "\n");
    EXPECT_EQ(with_adam.optimizer, Optimizer::adam) << other;
    EXPECT_EQ(with_adam.schedule, Schedule::noam) << other;
    EXPECT_EQ(with_adam.learning_rate, unnamed.learning_rate) << other;
    EXPECT_EQ(with_adam.cooldown, 0) << other;
  }
}

TEST(StudentRecipes, RefuseWhatDoesNotGoTogether) {
  const auto error_of = [](const std::string& text) -> std::string {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe("[student]\nteacher = [\"teacher\"]\n[data]\ntsv = [\"corpus\"]\nhold_out = 3\n",
                        "recipe");
    options.read_recipe(text, "further");
    try {
      validate(recipe);
      return "";
    } catch (const OptionError& error) {
      return error.key;
    }
  };
  EXPECT_EQ("student.backward", error_of("[student]\nmonolingual_target = [\"text\"]\n"));
  EXPECT_EQ("student.monolingual_target", error_of("[student]\nbackward = [\"model\"]\n"));
  EXPECT_EQ("student.backward_tag", error_of("[student]\nbackward_tag = \"two words\"\n"));
  EXPECT_EQ("student.candidates", error_of("[student]\nbeam = 4\n"));
  EXPECT_EQ("data", error_of("[data]\ntsv = [\"-\"]\n"));
  EXPECT_EQ("clean.detector", error_of("[clean]\ndetector = \"lid.176.ftz\"\n"));
  EXPECT_EQ("clean.min_score", error_of("[clean]\nmin_score = -3\n"));
  EXPECT_EQ("clean.min_score", error_of("[clean]\nscore_model = \"model\"\n"));
}

TEST_F(Students, ArePlanned) {
  const StudentRecipe tuned = recipe("[student]\nint8_steps = 2\n");
  const std::vector<PlannedStage> stages = plan_student(tuned, folder.path("student"));
  ASSERT_EQ(5u, stages.size());
  for (const PlannedStage& stage : stages) EXPECT_GT(stage.bytes, 0) << stage.name;
  for (const size_t stage : {1, 2, 3}) EXPECT_GT(stages[stage].seconds, 0) << stages[stage].name;
  EXPECT_NE(std::string::npos, plan_table(stages, folder.path("student")).find("9 pairs"));
  EXPECT_FALSE(fs::exists(folder.path("student"))) << "a plan writes nothing";
}

TEST(Plans, HaveNoEndWhereAStageHasNone) {
  const TemporaryFolder folder;
  std::vector<PlannedStage> stages = {{.name = "taught", .what = "", .seconds = 7200},
                                      {.name = "tuned", .what = "", .seconds = 7200}};
  EXPECT_NE(std::string::npos, plan_table(stages, folder.path("student")).find(" 4.0 h"));
  stages.push_back({.name = "student", .what = "", .seconds = -1});  // validation ends it
  EXPECT_NE(std::string::npos, plan_table(stages, folder.path("student")).find("more than 4.0 h"));
}

TEST_F(Students, ArePlannedAsFarAsTheyAreNotDone) {
  const std::string student = make("student", recipe());
  const auto undone = [&](const StudentRecipe& recipe) {
    std::string names;
    for (const PlannedStage& stage : plan_student(recipe, student))
      if (!stage.done) names += stage.name + " ";
    return names;
  };
  EXPECT_EQ("", undone(recipe()));
  EXPECT_EQ("tuned int8 ", undone(recipe("[student]\nint8_steps = 2\n")));
  EXPECT_EQ("student int8 ", undone(recipe("[training]\nmax_steps = 7\n")));
  EXPECT_EQ("taught student int8 ", undone(recipe("[student]\ncandidates = 1\n")));
  EXPECT_EQ("taught student int8 ", undone(recipe("[student]\ntranslations = 2\n")));
  EXPECT_EQ("clean taught student int8 ", undone(recipe("[clean]\nmax_words = 7\n")));
}

}  // namespace
}  // namespace dragoman::internal
