#include "student/evaluation_text.h"

#include "base/error.h"
#include "base/line_writer.h"

namespace dragoman::internal {
namespace {

// Test files are like validation files: their sides and their format are those of [data].
std::vector<TextPair> read_evaluation_files(DataConfig data, const std::vector<std::string>& source,
                                            const std::vector<std::string>& target, const char* what) {
  data.valid_source = source;
  data.valid_target = target;
  if (source.empty()) return {};
  std::vector<TextPair> pairs = read_pairs_of_user(what, validation_sources(data), data.swap);
  if (pairs.empty())
    throw Error("the {} set is empty: there is no pair in {} that can be used", what,
                validation_sources(data).front().name());
  return pairs;
}

}  // namespace

std::vector<TextPair> read_validation_files(const StudentRecipe& recipe) {
  const DataConfig& data = recipe.training.data;
  return read_evaluation_files(data, data.valid_source, data.valid_target, "validation");
}

std::vector<TextPair> read_test_files(const StudentRecipe& recipe) {
  const StudentConfig& c = recipe.student;
  return read_evaluation_files(recipe.training.data, c.test_source, c.test_target, "test");
}

void write_validation_text(const StudentRecipe& recipe, const ValidationText& files, Stage& stage) {
  LineWriter source(files.source), target(files.target);
  for (const TextPair& pair : read_validation_files(recipe)) {
    source.add(pair.source);
    target.add(pair.target);
  }
  for (LineWriter* file : {&source, &target}) file->finish();
  stage.finish({{"pairs", source.lines()}});
}

}  // namespace dragoman::internal
