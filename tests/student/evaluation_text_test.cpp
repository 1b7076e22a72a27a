// What students are measured on: mistakes in it, its format, and its sides.
#include "student/evaluation_text.h"

#include "base/error.h"
#include "student/small_students.h"

namespace dragoman::internal {
namespace {

std::string error_of_test_files(const StudentRecipe& recipe) {
  try {
    read_test_files(recipe);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST_F(Students, ReportMistakesInWhatTheyAreMeasuredOn) {
  const std::string one = folder.write("one", "Come here.\n"), two = folder.write("two", "a\nb\n"),
                    empty = folder.write("empty", "\n");
  const auto tested_on = [&](const std::string& source, const std::string& target) {
    return recipe("[student]\ntest_source = [\"" + source + "\"]\ntest_target = [\"" + target + "\"]\n");
  };
  EXPECT_EQ("", error_of_test_files(recipe()));
  EXPECT_EQ("", error_of_test_files(tested_on(one, one)));
  EXPECT_NE(std::string::npos, error_of_test_files(tested_on(one, two)).find("must correspond"));
  EXPECT_NE(std::string::npos, error_of_test_files(tested_on(folder.path("none"), one)).find("none"));
  EXPECT_NE(std::string::npos, error_of_test_files(tested_on(one, empty)).find("the test set is empty"));
  EXPECT_THROW(read_validation_files(recipe("[data]\nhold_out = 0\nvalid_source = [\"" + one +
                                            "\"]\nvalid_target = [\"" + empty + "\"]\n")),
               Error);
}

TEST_F(Students, AreMeasuredOnTextOfTheCorpusFormat) {
  const std::string english = folder.write("valid.en", "<seg id=\"1\">Come here.</seg>\n"),
                    french = folder.write("valid.fr", "<seg id=\"1\">Viens ici.</seg>\n");
  const StudentRecipe with_segments = recipe(
      "[data]\nformat = \"sgm\"\nhold_out = 0\nvalid_source = [\"" + english + "\"]\nvalid_target = [\"" +
      french + "\"]\n[student]\ntest_source = [\"" + english + "\"]\ntest_target = [\"" + french + "\"]\n");
  EXPECT_EQ("Viens ici.", read_test_files(with_segments).at(0).target);
  make("student", with_segments);
  EXPECT_EQ("Come here.\n", read_file(folder.path("student/validation/source")));
  EXPECT_EQ("Viens ici.\n", read_file(folder.path("student/validation/target")));
}

TEST_F(Students, ExchangeTheSidesOfAllFiles) {
  const std::string english = folder.write("en", "Come here.\n"), french = folder.write("fr", "Viens ici.\n");
  const StudentRecipe swapped = recipe("[data]\nswap = true\n[student]\ntest_source = [\"" + english +
                                       "\"]\ntest_target = [\"" + french + "\"]\n");
  EXPECT_EQ("Viens ici.", read_test_files(swapped).at(0).source);
}

}  // namespace
}  // namespace dragoman::internal
