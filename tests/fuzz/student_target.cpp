#include <nlohmann/json.hpp>

#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "student/config.h"

namespace dragoman::internal {

std::string read_student_recipe(std::string_view bytes) {
  return refusal([&] {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe(std::string(bytes), "recipe.toml");
    take_size(options, recipe.student.size);
    options.check([&] { validate(recipe); });
    options.to_json();
  });
}

Seeds student_recipe_seeds() { return contents_of_all(source_folder / "recipes/students", ".toml"); }

}  // namespace dragoman::internal
