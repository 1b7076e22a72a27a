#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "student/config.h"

namespace dragoman::internal {

std::string read_student_recipe(std::string_view bytes) {
  return refusal_of_recipe<StudentRecipe>(
      bytes, [](Options& options, StudentRecipe& recipe) { take_size(options, recipe.student.size); });
}

Seeds student_recipe_seeds() { return contents_of_all(source_folder / "recipes/students", ".toml"); }

}  // namespace dragoman::internal
