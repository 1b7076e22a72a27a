// Teachers, backward models and models that score, of many languages: all are told which they are.
#include "student/model_languages.h"

#include "base/error.h"
#include "dragoman/models.h"
#include "student/backward.h"
#include "student/comparison.h"
#include "student/pair_scorer.h"
#include "student/plan.h"
#include "student/small_students.h"
#include "student/stages.h"
#include "student/taught_text.h"

namespace dragoman::internal {
namespace {

constexpr int64_t lines_of_text = 4;

class ManyLanguages : public Students {
 protected:
  ManyLanguages() {
    dragoman::import_model({.source = DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/m2m/nllb", .out = model});
  }

  StudentRecipe with_model() {
    return recipe("[data]\nfrom = \"eng_Latn\"\nto = \"fra_Latn\"\n[student]\nteacher = [\"" + model +
                  "\"]\nbackward = [\"" + model + "\"]\nmonolingual = [\"" + english +
                  "\"]\nmonolingual_target = [\"" + french + "\"]\n");
  }

  static std::string repeated(const std::string& line) {
    std::string text;
    for (int64_t i = 0; i < lines_of_text; ++i)
      text += line + std::string(static_cast<size_t>(i + 1), '.') + "\n";
    return text;
  }

  const std::string model = folder.path("many"),
                    english = folder.write("en", repeated("the cat sees a dog ")),
                    french = folder.write("fr", repeated("la chatte voit une chienne "));
};

TEST_F(ManyLanguages, ModelsOfOnePairAreToldNothing) {
  dragoman::Translator many(model, {.device = "cpu", .threads = 1}),
      one(DRAGOMAN_SOURCE_DIR "/docs/model", {.device = "cpu", .threads = 1});
  EXPECT_EQ(2u, language_options(many, "eng_Latn", "fra_Latn").size());
  EXPECT_TRUE(language_options(one, "de", "en").empty());
  EXPECT_EQ("", score_settings(one, "de", "en").from);
}

TEST_F(ManyLanguages, AreToldToTheTeacherAndBack) {
  const StudentRecipe recipe = with_model();
  EXPECT_NO_THROW(plan_student(recipe, folder.path("student")));
  const std::string student = folder.path("student");
  Stage taught(student, "taught", {}), further(student, "monolingual", {}), back(student, "backward", {});
  const std::vector<std::string> files = taught_files(recipe, student);
  teach_pairs(recipe, {.source = english, .target = french, .valid_source = {}, .valid_target = {}}, files,
              taught, single_process());
  EXPECT_EQ(lines_of_text, taught.report().at("lines"));
  teach_monolingual(recipe, monolingual_files(recipe, student), further, single_process());
  EXPECT_EQ(lines_of_text, further.report().at("taught").at("lines"));
  translate_back(recipe, backward_files(recipe, student), back, single_process());
  EXPECT_EQ(lines_of_text, back.report().at("lines"));
}

TEST_F(ManyLanguages, AreToldWhereTheyAreComparedAndScore) {
  const std::vector<TextPair> pairs = {{"the cat sees a dog .", "la chatte voit une chienne ."}};
  EXPECT_NO_THROW(
      bleu_of(model, {.test = pairs, .from = "eng_Latn", .to = "fra_Latn", .device = "cpu", .threads = 1}));
  dragoman::Translator many(model, {.device = "cpu", .threads = 1});
  const auto score = [&](bool backward, const char* from, const char* to) {
    return pair_scorer_of(many, backward, from, to)(pairs).at(0);
  };
  EXPECT_NE(score(false, "eng_Latn", "fra_Latn"), score(false, "fra_Latn", "eng_Latn"));
  const std::vector<TextPair> other_way = {{pairs[0].target, pairs[0].source}};
  EXPECT_EQ(pair_scorer_of(many, false, "fra_Latn", "eng_Latn")(other_way).at(0),
            score(true, "eng_Latn", "fra_Latn"));
}

}  // namespace
}  // namespace dragoman::internal
